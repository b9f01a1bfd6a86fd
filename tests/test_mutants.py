"""The mistakes that `make mutants` makes on purpose, and that it sees which go unnoticed."""

import subprocess
import sys
import tomllib

import pytest

import mutants
from mutations import difference, mutants_of


def sources(source):
    return [mutant.source for mutant in mutants_of(source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", ["x = a <= b", "x = a >= b"]),
        ("x = a <= b == c", ["x = a < b == c", "x = a > b == c", "x = a <= b != c"]),
        ("x = a is not b", ["x = a is b"]),
        ("x = a + b * c", ["x = a - b * c", "x = a + (b + c)"]),
        ("x = a and not b", ["x = a or not b", "x = a and b"]),
        ("x = 7, 0.5", ["x = (8, 0.5)", "x = (6, 0.5)", "x = (7, 1.5)", "x = (7, -0.5)"]),
        ("x = True, None, 'a'", ["x = (False, None, 'a')", "x = (True, None, '')"]),
        ("x = '', b'a'", ["x = ('mutant', b'a')", "x = ('', b'')"]),
        ("if a:\n    f()", ["if not a:\n    f()", "if a:\n    pass"]),
        ("while a == b:\n    f()", ["while a != b:\n    f()", "while a == b:\n    pass"]),
        ("x = f(a, *b, c=d)", ["x = f(a, *b)"]),
        ("x = f(a, b, c)", ["x = f(b, a, c)", "x = f(a, c, b)"]),
        ("x = a[b:c]", ["x = a[:c]", "x = a[b:]"]),
        ("x = [a for a in b if c]", ["x = [a for a in b]"]),
        ("x = a if b else c", ["x = a if not b else c"]),
        ("x = f'{a!r}'", ["x = f'{a}'"]),
        ("for a in b:\n    break", ["for a in b:\n    continue"]),
        ("try:\n    a = b\nexcept (C, D):\n    raise",
         ["try:\n    a = b\nexcept (D,):\n    raise", "try:\n    a = b\nexcept (C,):\n    raise",
          "try:\n    a = b\nexcept (C, D):\n    pass"]),
        ("@a\n@b\ndef f():\n    pass", ["@b\ndef f():\n    pass", "@a\ndef f():\n    pass"]),
        ("def f():\n    return a", ["def f():\n    return None"]),
        ("self.a = b\nc = d", ["pass\nc = d"]),
        ("a |= b", ["pass", "a &= b"]),
        ("with a:\n    b = c", ["if True:\n    b = c"]),
        ("match a:\n    case b if c:\n        d = e", ["match a:\n    case b:\n        d = e"]),
        ("def f():\n    yield a", ["def f():\n    yield"]),
    ],
)  # fmt: skip
def test_every_mistake_is_made_once(source, expected):
    assert sorted(sources(source)) == sorted(expected)


@pytest.mark.parametrize(
    "source",
    [
        '"""Words."""\nimport a\nfrom b import c\n__all__ = ["d"]',
        'a: list["b"] = c\n"""What a is."""',
        "if TYPE_CHECKING:\n    import a",
        "e = TextError('half a character')",
        "e = broken(f'a piece is {a}')",
    ],
)
def test_words_for_people_and_type_checkers_are_left_alone(source):
    assert sources(source) == []


def test_what_a_message_computes_is_not():
    assert sources("e = TextError(f'{a + b} times')") == ["e = TextError(f'{a - b} times')"]


def test_a_change_is_told_with_the_line_around_it():
    long = "x = " + "a" * 40
    assert difference(f"y\n{long} + 1\nz", f"y\n{long} - 1\nz") == "a" * 29 + " {+ -> -} 1"
    assert difference("f()", "pass") == "{f() -> pass}"


def test_a_mistake_knows_its_place_and_is_a_module_of_its_own():
    source = (mutants.ROOT / "regard/data/plan.py").read_text(encoding="utf-8")
    made = mutants_of(source)
    assert len({mutant.source for mutant in made}) == len(made) > 30
    for mutant in made:
        compile(mutant.source, "plan.py", "exec")
    one = next(mutant for mutant in made if "{+ -> -}" in mutant.change)
    assert one.where == "cut" and "(len(batch) + 1)" in source.splitlines()[one.line - 1]


def test_the_modules_tried_are_those_that_must_be_covered():
    settings = tomllib.loads((mutants.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    globs = settings["tool"]["coverage"]["run"]["include"]
    covered = {path for pattern in globs for path in mutants.ROOT.glob(pattern)}
    assert {mutants.ROOT / module for module in mutants.TESTS} == covered
    assert all(
        (mutants.ROOT / test).is_file() for tests in mutants.TESTS.values() for test in tests
    )


TRY = """
import mutants
from pathlib import Path

mutants.ROOT, mutants.COPIED = Path.cwd(), ("limit.py", "test_limit.py")
mutants.LIBRARIES, mutants.TESTS = (), {"limit.py": ("test_limit.py",)}
mutants.main(["limit.py"])
"""
LIMIT = "def fits(length, longest=5):\n    return length <= longest\n"
TEST = """
from limit import fits

def test_fits():
    assert fits(4) and fits(5) and not fits(7)
"""
EQUIVALENTS = """
[["limit.py"]]
where = "fits"
change = "def fits(length, longest={5 -> 6}):"
reason = "no length is 6"
[["limit.py"]]
where = "fits"
change = "return length {<= -> <} longest"
reason = "no length is 5"
"""


def test_what_no_test_notices_survives_and_what_is_noticed_may_not_be_called_equivalent(tmp_path):
    (tmp_path / "limit.py").write_text(LIMIT)
    (tmp_path / "test_limit.py").write_text(TEST)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "equivalents.toml").write_text(EQUIVALENTS)
    path = {"PYTHONPATH": str(mutants.ROOT / "scripts")}
    command = [sys.executable, "-c", TRY]
    done = subprocess.run(command, cwd=tmp_path, env=path, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "limit.py:1: fits: def fits(length, longest={5 -> 6}):",
        "module                        made killed  score  without equivalents",
        "limit.py                         5      4   80.0  100.0",
        "  equivalents.toml names what did not survive: fits: return length {<= -> <} longest",
        "all                              5      4   80.0",
    ]
    assert done.returncode == 1
