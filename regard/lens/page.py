"""A web page that needs nothing else: no network, no library, no build step.

Text reaches a page only as JSON inside a data element, and its script writes it with
`textContent`, so no token can become markup. The policy in the head lets a browser run exactly
our script and our style, by their hashes, and load nothing.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Any

from regard.lens.picture import TITLES, AttentionMap, Picture, visible

# `</script>` or `<!--` inside a string would end the data element: these never appear as such.
HIDE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def render(picture: Picture) -> str:
    """The page of a picture. It works from a file, a mail or a memory stick, offline."""
    tree = {
        "source": visible(picture.source, blank=" "),
        "output": visible(picture.output, blank=" "),
        "maps": [_map(m) for m in picture.maps],
    }
    return safe_page("attention", tree, styles=["attention.css"])


def safe_page(name: str, tree: dict[str, Any], styles: Sequence[str]) -> str:
    """static/page.html around static/NAME.html, with these styles, page.js, NAME.js and the data
    that these draw."""
    style = "".join(_static(file) for file in styles)
    script = _static("page.js") + _static(f"{name}.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    parts = {"name": name, "policy": policy, "style": style, "script": script, "data": _data(tree)}
    return Template(_static("page.html")).substitute(parts, body=_static(f"{name}.html"))


def _static(name: str) -> str:
    return files("regard.lens").joinpath("static", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What a content security policy calls an inlined text: sha256-..."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _data(tree: dict[str, Any]) -> str:
    """ASCII JSON, so U+2028 and lone surrogates arrive as escapes too."""
    return json.dumps(tree, separators=(",", ":"), allow_nan=False).translate(HIDE)


def _map(m: AttentionMap) -> dict[str, Any]:
    """One map as people see it: numbered from 1, tokens visible, weights to 4 decimals."""
    return {
        "name": m.name,
        "title": TITLES.get(m.name, m.name),
        "layer": m.layer + 1,
        "whole": m.whole,
        "words": m.words._asdict(),
        "heads": [head + 1 for head in m.heads],
        "rows": [visible(token) for token in m.rows],
        "columns": [visible(token) for token in m.columns],
        "weights": m.weights.astype("float64").round(4).tolist(),
    }
