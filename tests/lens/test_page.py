"""Every page we write, the picture's and the report's, can be trusted with hostile text."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from regard.lens.page import render
from regard.lens.picture import AttentionMap, Picture
from regard.lens.report import report_page

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--<script>",
    "]]>&lt;&amp;",
    "\u2028\u2029",
    "\x1b[31mred",
    "\u202eevil",
    "\ud800",
    "${data}",
)


class Page(HTMLParser):
    """The page as a browser splits it: every tag, and the exact text of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.inside, self.open = [], {}, None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.open = dict(attributes).get("type", tag) if tag in ("script", "style") else None

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open:
            self.inside[self.open] = self.inside.get(self.open, "") + data

    @property
    def data(self):
        return json.loads(self.inside["application/json"])

    @property
    def policy(self):
        return next(a["content"] for _, a in self.tags if "http-equiv" in a)


def a_picture(tokens=("a", "b", "c"), source="in", output="out"):
    weights = np.random.default_rng(0).dirichlet(np.ones(len(tokens)), size=(2, 4))
    rows = ("w", "x", "y", "z")
    cross = AttentionMap("cross", 1, rows, tokens, weights.astype(np.float32), (0, 3))
    return Picture(source, output, (cross,))


def attention_page(text="in"):
    return render(a_picture(tokens=(text, "b", "c"), source=text, output=text))


def a_report(text="in"):
    """The report of a small run in which everything a person or a file may name is `text`."""
    score = {"value": 1.0, "low": 0.5, "high": 2.0, "signature": text}
    test = {"examples": 3, "data": text, "scores": {text: score}}
    counts = {"train": 1, "validation": 1, "test": 1}
    sample = {
        "input": text,
        "output": text,
        "score": -1.0,
        "wanted": ["W AH N"],
        "in_training": True,
        "unknown": [text],
    }
    facts = {
        "task": text,
        "data": {"sha256": text, "split_rule": text, "notes": [text], **counts},
        "parameters": 1,
        "environment": {"machine": text},
        "weights": "best",
        "steps": 2,
        "seconds": 1.0,
        "tokens_per_second": 5,
        "memory": 6_000_000,
        "test": {**test, "baselines": [{"name": text, "scores": {}}]},
        "samples": [sample],
    }
    log = [{"step": 1, "loss": 2.0}, {"step": 2, "validation": {"loss": 1.0, text: 3.0}}]
    return report_page(text, facts, log, {"data": {"path": text, text: text}, "task": text})


PAGES = {"attention": attention_page, "report": a_report}


@pytest.fixture(params=PAGES)
def make(request):
    """A function that makes a page around some text."""
    return PAGES[request.param]


@pytest.fixture
def page(make):
    return Page(make())


def sha256(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_data_in_the_page_are_the_weights_to_four_decimals():
    picture = a_picture()
    (m,) = Page(render(picture)).data["maps"]
    np.testing.assert_allclose(m["weights"], picture.maps[0].weights, atol=0.5e-4 + 1e-9)
    assert np.array_equal(np.round(m["weights"], 4), m["weights"])
    assert (m["rows"], m["columns"]) == (["w", "x", "y", "z"], ["a", "b", "c"])


def test_the_page_counts_layers_and_heads_from_one():
    (m,) = Page(attention_page()).data["maps"]
    assert (m["title"], m["layer"], m["heads"]) == ("cross-attention", 2, [1, 4])


@pytest.mark.parametrize("name", ["influence", "weights", "tokens"])
def test_what_is_no_attention_is_given_to_the_page_with_words_of_its_own(name):
    one = AttentionMap(name, 0, ("q",), ("a", "b"), np.full((1, 1, 2), 0.5), (0,))
    (m,) = Page(render(Picture("in", "out", (one,)))).data["maps"]
    assert m["whole"] and "look" not in " ".join(m["words"].values())
    (other,) = Page(attention_page()).data["maps"]
    assert not other["whole"] and "looks" in other["words"]["how"]


def test_the_policy_allows_our_script_and_style_by_their_hashes_and_nothing_else(page):
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "script-src": f"'{sha256(page.inside['module'])}'",
        "style-src": f"'{sha256(page.inside['style'])}'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_the_policy_comes_before_anything_it_governs(page):
    names = [tag for tag, _ in page.tags]
    assert names[:4] == ["html", "head", "meta", "meta"]
    assert "http-equiv" in page.tags[3][1]


def test_the_page_asks_for_nothing_outside_itself(page, make):
    links = [
        value for _, a in page.tags for key, value in a.items() if key in ("src", "href", "srcset")
    ]
    assert links == ["data:,"]  # an empty icon, or browsers would ask for one
    text = make().replace("http://www.w3.org/2000/svg", "")  # a name, never fetched
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", text)
    assert not re.search(
        r"fetch|XMLHttpRequest|import\(|sendBeacon|WebSocket", page.inside["module"]
    )


def test_the_script_never_turns_text_into_markup_or_code(page):
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|new Function|cssText"
    assert not re.search(forbidden, page.inside["module"])


def test_no_tag_carries_a_style_or_a_handler_the_policy_would_block(page):
    keys = {key for _, attributes in page.tags for key in attributes}
    assert not [key for key in keys if key == "style" or key.startswith("on")]


@pytest.mark.parametrize("token", HOSTILE)
def test_no_token_can_leave_its_element(page, make, token):
    hostile = make(token)
    assert Page(hostile).tags == page.tags
    assert Page(hostile).inside["module"] == page.inside["module"]
    inside = Page(hostile).inside["application/json"]
    assert not set(inside) & set("<>&\u2028\u2029")
    hostile.encode()  # even half a surrogate pair


def test_hostile_text_arrives_readable():
    data = Page(render(a_picture(tokens=("</script>", "\x1b[31m", "\u202e"), source="<b> x"))).data
    assert data["maps"][0]["columns"] == ["</script>", "[U+001B][31m", "[U+202E]"]
    assert data["source"] == "<b> x"


def test_the_script_finds_every_element_it_asks_for(page):
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    asked = set(re.findall(r'\bat\("([^"]+)"\)', page.inside["module"]))
    assert asked and asked <= set(ids)


def test_controls_have_labels_and_references_lead_somewhere(page):
    ids = {a["id"] for _, a in page.tags if "id" in a}
    for key in ("aria-labelledby", "aria-describedby"):
        assert {a[key] for _, a in page.tags if key in a} <= ids
    order = [tag for tag, _ in page.tags if tag in ("label", "select", "input")]
    assert order[::2] == ["label"] * (len(order) // 2)  # each control inside its label
    assert order and set(order[1::2]) <= {"select", "input"}


def test_light_dark_small_and_still_are_all_thought_of(page):
    for want in ("prefers-color-scheme: dark", "prefers-reduced-motion: reduce", "max-width"):
        assert want in page.inside["style"]


def test_a_long_input_stays_a_page_one_can_mail():
    tokens = tuple("t" * 100)
    weights = np.random.default_rng(0).dirichlet(np.ones(100), size=(8, 100)).astype(np.float32)
    maps = tuple(AttentionMap("cross", i, tokens, tokens, weights, tuple(range(8))) for i in (0, 1))
    assert len(render(Picture("in", "out", maps))) < 8 * 2 * 8 * 100 * 100 + 50_000  # 8 bytes each
