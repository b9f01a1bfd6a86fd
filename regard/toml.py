"""Recipes as people write them: read from TOML, changed by --set, checked, written with comments.

Unknown keys are refused with the likely spelling, all mistakes are reported at once, and those
in a file carry its line.
"""

import re
import textwrap
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

import tomli_w
from pydantic import ValidationError

from regard.config import Settings, Tree
from regard.errors import ConfigError, did_you_mean

S = TypeVar("S", bound=Settings)


def read_toml(path: Path) -> Tree:
    """The tables of a TOML file, or a ConfigError that names the line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # editors may put a BOM
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such recipe. Is the path right?") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: can not be read as a recipe: {error}.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}.") from error


def override(tree: Tree, sets: Sequence[str]) -> Tree:
    """A copy of `tree` with each 'a.b=value' put in. Values are read as TOML, else as text.

    >>> override({"train": {"rate": 1.0}}, ["train.rate=0.5", "model.norm=rms"])
    {'train': {'rate': 0.5}, 'model': {'norm': 'rms'}}
    """
    tree = {k: override(v, ()) if isinstance(v, dict) else v for k, v in tree.items()}
    for text in sets:
        dotted, equals, value = text.partition("=")
        *parents, last = dotted.strip().split(".")
        if not equals or not last:
            raise ConfigError(f"--set {text}: expected KEY=VALUE, as in --set train.rate=0.001.")
        table = tree
        for name in parents:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise ConfigError(f'--set {text}: "{name}" is a value, not a section.')
        table[last] = _value(value.strip())
    return tree


def fill(tree: Tree, defaults: Tree) -> Tree:
    """`tree`, and below it `defaults`: what is there already wins.

    >>> fill({"a": {"x": 1}}, {"a": {"x": 2, "y": 3}, "b": 4})
    {'a': {'x': 1, 'y': 3}, 'b': 4}
    """
    inner = {
        key: fill(tree[key], value)
        for key, value in defaults.items()
        if isinstance(value, dict) and isinstance(tree.get(key), dict)
    }
    return {**tree, **{k: v for k, v in defaults.items() if k not in tree}, **inner}


def _value(text: str) -> Any:
    try:
        found = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return found["value"] if len(found) == 1 else text  # a line break can not smuggle in more


def check(cls: type[S], tree: Tree, where: Path | str = "settings", given: Tree | None = None) -> S:
    """Turn a tree into settings, or raise one ConfigError that lists every mistake. What is in
    `given` was not read from the file `where`, so no line of it is blamed."""
    try:
        return cls.model_validate(tree)
    except ValidationError as error:
        raise _refusal(cls, error.errors(include_url=False), where, given or {}) from error


def check_part(cls: type[Settings], tree: Tree, where: Path | str) -> None:
    """Refuse what is wrong already in a tree that has still to be filled in. What is missing,
    or does not fit together yet, is left to the last check."""
    try:
        cls.model_validate(tree)
    except ValidationError as error:
        found = error.errors(include_url=False)
        wrong = [e for e in found if e["type"] != "missing" and not _of_section(cls, e)]
        if wrong:
            raise _refusal(cls, wrong, where, {}) from error


def _of_section(cls: type[Settings], error: Any) -> bool:
    """Is it a section's values that do not fit together?"""
    keys, home = _place(cls, error["loc"])
    return error["type"] == "value_error" and (not keys or bool(_sections(home, keys[-1])))


def _refusal(
    cls: type[Settings], errors: Sequence[Any], where: Path | str, given: Tree
) -> ConfigError:
    places = [_place_of(cls, error)[0] for error in errors]
    found = zip(errors, places, strict=True)
    return ConfigError(
        "\n".join(_explain(cls, e, "settings" if _is_in(given, at) else where) for e, at in found)
    )


def _is_in(tree: Any, keys: Sequence[Any]) -> bool:
    for key in keys:
        if not isinstance(tree, dict) or key not in tree:
            return False
        tree = tree[key]
    return bool(keys)


def _explain(cls: type[Settings], error: Any, where: Path | str) -> str:
    keys, home = _place_of(cls, error)
    place, name = f"{where}{_line(where, keys)}: ", ".".join(keys)
    if error["type"] == "union_tag_invalid":
        section, found = keys[-2], error["ctx"]["tag"]
        return f"{place}{name}: {_no_kind(_sections(home, section), section, found)}"
    if error["type"] == "extra_forbidden":
        return f"{place}{_unknown(cls, keys, home)}"
    if error["type"] == "missing":
        return f'{place}the setting "{name}" is missing.'
    if error["type"] == "value_error":  # our own sentences, from the validators above
        return f"{place}{name + ': ' if name else ''}{error['ctx']['error']}"
    return f"{place}{name}: {error['msg'][0].lower()}{error['msg'][1:]}, found {error['input']!r}."


def _no_kind(sections: list[type[Settings]], name: str, found: str) -> str:
    """A kind that is not there; perhaps it is a setting of one that is, as a network's cell."""
    for section in sections:
        for key, field in section.model_fields.items():
            if found in get_args(field.annotation):
                wanted = f'{name}.kind = "{_kind(section)}" and {name}.{key} = "{found}"'
                return f'there is no kind "{found}". Write {wanted}.'
    return f'there is no kind "{found}".{did_you_mean(found, map(_kind, sections))}'


def _unknown(cls: type[Settings], keys: list[str], home: type[Settings] | None) -> str:
    """A setting that is not there, and what was probably meant."""
    name, known = ".".join(keys), home.model_fields if home else {}
    others = _sections(cls, keys[0]) if len(keys) == 2 else []
    if others := [section for section in others if keys[1] in section.model_fields]:
        wanted = " or ".join(f'{keys[0]}.kind = "{_kind(section)}"' for section in others)
        return f'the setting "{name}" goes with {wanted}.'
    inside = [f"{section}.{keys[0]}" for section in known if _has(cls, section, keys[0])]
    hint = f' Did you mean "{inside[0]}"?' if inside else did_you_mean(keys[-1], known)
    return f'there is no setting "{name}".{hint}'


def _has(cls: type[Settings], section: str, key: str) -> bool:
    return any(key in inner.model_fields for inner in _sections(cls, section))


def _place_of(cls: type[Settings], error: Any) -> tuple[list[str], type[Settings] | None]:
    keys, home = _place(cls, error["loc"])
    return ([*keys, "kind"] if error["type"] == "union_tag_invalid" else keys), home


def _place(
    cls: type[Settings], steps: Sequence[str | int]
) -> tuple[list[str], type[Settings] | None]:
    """The settings on the way to a mistake, and the class that the last of them is in. Where a
    section has several kinds, pydantic also names the one it took; that is no setting."""
    keys: list[str] = []
    home, kinds = None, [cls]
    for step in map(str, steps):
        if len(kinds) > 1 and step in map(_kind, kinds):
            kinds = [kind for kind in kinds if _kind(kind) == step]
        elif not step.startswith("function-"):
            home = kinds[0] if kinds else None
            kinds = _sections(home, step)
            keys.append(step)
    return keys, home


def _sections(cls: type[Settings] | None, key: str) -> list[type[Settings]]:
    """The classes that a setting may be of, where it is a section: X, X | None or X | Y."""
    field = cls.model_fields.get(key) if cls else None
    kinds = [field.annotation, *get_args(field.annotation)] if field else []
    kinds += [inner for kind in kinds for inner in get_args(kind)[:1]]  # of Annotated[X, ...]
    found = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Settings)]
    return list(dict.fromkeys(found))


def _kind(cls: type[Settings]) -> str:
    return str(cls.model_fields["kind"].default)


def _line(where: Path | str, keys: list[str]) -> str:
    """':12' when `where` is a file in which the setting stands on line 12, else ''."""
    if not isinstance(where, Path) or not where.is_file() or not keys:
        return ""
    section = ""
    for number, line in enumerate(where.read_text(encoding="utf-8").splitlines(), start=1):
        if header := re.match(r"\s*\[([^\]]+)\]", line):
            section = header[1].strip()
            if section == ".".join(keys):
                return f":{number}"
        elif section == ".".join(keys[:-1]) and re.match(rf"\s*{re.escape(keys[-1])}\s*=", line):
            return f":{number}"
    return ""


# Writing


def written(settings: Settings) -> str:
    """The settings as TOML, every key there and explained; those without a value are comments.

    >>> from regard.config import TokenizerSettings
    >>> print(written(TokenizerSettings(kind="word")).splitlines()[-1])
    lowercase = false
    """
    return "\n".join(_section(settings, "")).strip() + "\n"


def _section(settings: Settings, name: str) -> Iterator[str]:
    """Plain values first: in TOML, whatever follows a [header] belongs to it."""
    values = {key: getattr(settings, key) for key in type(settings).model_fields}
    sections = {key: value for key, value in values.items() if isinstance(value, Settings)}
    for key, value in values.items():
        if key not in sections:
            yield from _entry(type(settings), key, value)
    for key, inner in sections.items():
        path = f"{name}.{key}" if name else key
        yield from ("", *_comment(type(settings), key), f"[{path}]")
        yield from _section(inner, path)


def _entry(cls: type[Settings], key: str, value: Any) -> Iterator[str]:
    yield from _comment(cls, key)
    if value is None:
        yield f"# [{key}]" if _sections(cls, key) else f"# {key} ="
    else:
        yield tomli_w.dumps({key: value}).rstrip()


def _comment(cls: type[Settings], key: str) -> Iterator[str]:
    words = " ".join((cls.model_fields[key].description or "").split())
    choices = [f'"{c}"' for c in get_args(cls.model_fields[key].annotation) if isinstance(c, str)]
    words = f"{words} One of: {', '.join(choices)}.".strip() if len(choices) > 1 else words
    yield from textwrap.wrap(words, 96, initial_indent="# ", subsequent_indent="# ")
