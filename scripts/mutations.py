"""The small mistakes one could make in a module, each as one change of its syntax tree.

    a < b     ->  a <= b, a >= b     a + b    ->  a - b         a and b   ->  a or b
    1         ->  2, 0               "word"   ->  ""            True      ->  False
    if a:     ->  if not a:          f(a, b)  ->  f(b, a)       f(a=1)    ->  f()
    return a  ->  return None        x[a:b]   ->  x[a:], x[:b]  break     ->  continue
    {text!r}  ->  {text}             except (A, B)  ->  except A, except B
    left out: a call, a raise, the setting of an attribute, a decorator, a `with`, the `if` of a
    comprehension

Left alone: annotations, docstrings, imports, `__all__`, what only type checkers read, and the words
of messages: strings given to an ...Error, to `broken` or to `warn`. What a message chooses or
computes counts.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any

COMPARED: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {  # any other becomes *
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.BitXor: ast.BitOr,
}
Function = ast.FunctionDef | ast.AsyncFunctionDef
AROUND = 30  # characters shown on each side of a change


@dataclass(frozen=True)
class Mutant:
    """
    line    of the file in which the change is
    where   the class and function around it, as in "Plan.batch"
    change  what the statement became, as in "len(batch) {+ -> -} 1"
    source  the whole changed module
    """

    line: int
    where: str
    change: str
    source: str


@dataclass(frozen=True)
class Spot:
    """A node, where it hangs in the tree, the statement it is part of and whether its strings are
    only the words of a message."""

    node: ast.AST
    parent: ast.AST
    field: str
    place: int | None
    statement: ast.stmt
    where: str
    words: bool

    def put(self, node: ast.AST) -> None:
        if self.place is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.place] = node


def mutants_of(source: str) -> list[Mutant]:
    """All of them in the order of the file, no two of them alike."""
    tree = ast.parse(source)
    found: dict[str, Mutant] = {}
    for spot in spots(tree):
        whole = spot.node is spot.statement
        before = ast.unparse(spot.statement)
        for other in alternatives(spot):
            spot.put(other)
            after = ast.unparse(other if whole else spot.statement)
            changed = ast.unparse(ast.fix_missing_locations(tree))
            line = getattr(spot.node, "lineno", spot.statement.lineno)
            found.setdefault(changed, Mutant(line, spot.where, difference(before, after), changed))
        spot.put(spot.node)
    found.pop(ast.unparse(tree), None)
    return sorted(found.values(), key=lambda mutant: mutant.line)


def spots(tree: ast.Module) -> Iterator[Spot]:
    for place, statement in enumerate(tree.body):
        yield from _inside(Spot(statement, tree, "body", place, statement, "", False))


def _inside(spot: Spot) -> Iterator[Spot]:
    node = spot.node
    if is_left_alone(node):
        return
    yield spot
    where, words = spot.where, spot.words or is_message(node)
    if isinstance(node, Function | ast.ClassDef):
        where = f"{where}.{node.name}".removeprefix(".")
    for field, value in ast.iter_fields(node):
        for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and field not in ("annotation", "returns"):
                statement = child if isinstance(child, ast.stmt) else spot.statement
                yield from _inside(Spot(child, node, field, place, statement, where, words))


def is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(ast.Constant(str())):
            return True
        case ast.If(ast.Name("TYPE_CHECKING")) | ast.Assign([ast.Name("__all__")]):
            return True
    return False


def is_message(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func).split(".")[-1]
    return name.endswith("Error") or name in ("broken", "warn")


def alternatives(spot: Spot) -> Iterator[ast.AST]:
    """What could stand in the place of a node."""
    node = spot.node
    if isinstance(node, ast.stmt):
        yield from _statements(node)
    elif isinstance(node, ast.Constant):
        yield from (ast.Constant(value) for value in _values(node.value, spot.words))
    elif isinstance(node, ast.expr):
        yield from _expressions(node)
    else:
        yield from _parts(node)


def _statements(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.Expr(ast.Yield()):
            return
        case ast.Expr() | ast.Raise() | ast.Delete():
            yield ast.Pass()
        case ast.Assign([ast.Attribute() | ast.Subscript() | ast.Tuple([ast.Attribute(), *_])]):
            yield ast.Pass()
        case ast.AugAssign(op=op):
            yield ast.Pass()
            yield _with(node, op=COMPUTED.get(type(op), ast.Mult)())
        case ast.Return(value) if value and ast.unparse(value) != "None":
            yield ast.Return(ast.Constant(None))
        case ast.If(test) | ast.While(test) if not _negates_itself(test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.With(_, body):
            yield ast.If(ast.Constant(True), body, [])
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.FunctionDef(decorator_list=kept) | ast.ClassDef(decorator_list=kept):
            yield from (_with(node, decorator_list=rest) for rest in _without_one(kept))


def _expressions(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=ops):
            for n, op in enumerate(ops):
                for other in COMPARED[type(op)]:
                    yield _with(node, ops=[*ops[:n], other(), *ops[n + 1 :]])
        case ast.BinOp(op=op):
            yield _with(node, op=COMPUTED.get(type(op), ast.Mult)())
        case ast.BoolOp(op=op):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.IfExp(test) if not _negates_itself(test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Yield(value) if value:
            yield ast.Yield(None)
        case ast.FormattedValue(conversion=conversion) if conversion != -1:
            yield _with(node, conversion=-1)
        case ast.Slice(lower, upper):
            yield from [_with(node, lower=None)] if lower else []
            yield from [_with(node, upper=None)] if upper else []
        case ast.Call(_, arguments, keywords):
            yield from (_with(node, args=swapped) for swapped in _swapped(arguments))
            yield from (_with(node, keywords=rest) for rest in _without_one(keywords))


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.ExceptHandler(ast.Tuple(kinds)):
            yield from (_with(node, type=ast.Tuple(rest)) for rest in _without_one(kinds))
        case ast.comprehension(ifs=ifs):
            yield from (_with(node, ifs=rest) for rest in _without_one(ifs))
        case ast.match_case(guard=guard) if guard:
            yield _with(node, guard=None)


def _values(value: object, words: bool) -> list[Any]:
    match value:
        case bool():
            return [not value]
        case int() | float():
            return [value + 1, value - 1]
        case str() if not words:
            return ["" if value else "mutant"]
        case bytes():
            return [b"" if value else b"mutant"]
    return []


def _negates_itself(test: ast.expr) -> bool:
    """Comparisons and `not` are turned round anyway."""
    return isinstance(test, ast.Compare | ast.UnaryOp)


def _with(node: ast.AST, **changes: Any) -> ast.AST:
    changed = copy(node)
    for field, value in changes.items():
        setattr(changed, field, value)
    return changed


def _without_one(items: list[Any]) -> list[list[Any]]:
    return [items[:n] + items[n + 1 :] for n in range(len(items))]


def _swapped(arguments: list[ast.expr]) -> Iterator[list[ast.expr]]:
    """Each pair of neighbours the other way round."""
    for n, pair in enumerate(zip(arguments, arguments[1:], strict=False)):
        if not any(isinstance(argument, ast.Starred) for argument in pair):
            yield [*arguments[:n], *reversed(pair), *arguments[n + 2 :]]


def difference(before: str, after: str) -> str:
    """
    >>> difference("x = len(batch) + 1", "x = len(batch) - 1")
    'x = len(batch) {+ -> -} 1'
    """
    old, new = (re.findall(r"\w+|[<>=!]+|\W", text) for text in (before, after))
    start = len(commonprefix([old, new]))
    end = len(commonprefix([old[start:][::-1], new[start:][::-1]]))
    left = "".join(old[:start]).rpartition("\n")[2][-AROUND:]
    right = "".join(old[len(old) - end :]).partition("\n")[0][:AROUND]
    parts = ("".join(text[start : len(text) - end]) for text in (old, new))
    gone, come = (textwrap.shorten(part, 4 * AROUND, placeholder=" ...") for part in parts)
    return f"{left}{{{gone} -> {come}}}{right}".strip()
