"""A cell's text as Python, as far as it is: its statements, what they define, and which of them only stand in for an answer.

Nothing is executed, and nothing here needs torch.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Statement:
    """A statement at the top level of a text, or a piece of the text that is not Python; lines are those of the text."""

    node: ast.stmt | None
    source: str
    error: SyntaxError | None = None


@dataclass(frozen=True)
class Definition:
    """A place where a name gets a value.

    Attributes:
        name: which.
        stub: whether it only stands in for a function that is not written yet.
        lines: the first and the last line of its statement; None where it is not Python.
    """

    name: str
    stub: bool
    lines: tuple[int, int] | None


def statements(source: str) -> Iterator[Statement]:
    """The statements of a text; lines that only IPython understands are passed over, and so is a cell in another language.

    Of a text that is not Python as a whole, every definition and import that is.
    """
    if _CELL_MAGIC.match(source):
        return
    try:
        yield from _parsed(source)
    except SyntaxError:
        yield from _parsed_in_pieces(_LINE_MAGIC.sub(r"\1pass", source))


@lru_cache(maxsize=1024)
def is_python(source: str) -> bool:
    """Whether a text is Python, lines that only IPython understands aside."""
    return not _CELL_MAGIC.match(source) and (_parses(source) or _parses(_LINE_MAGIC.sub(r"\1pass", source)))


def definitions(source: str, names: Collection[str]) -> list[Definition]:
    """Where a text defines one of ``names``: at its top level, or in an ``if``, ``try``, ``with`` or loop there."""
    found = []
    for statement in statements(source):
        if statement.node is None:
            spelt = {match["def"] or match["name"] for match in _DEFINES.finditer(statement.source)}
            found += [Definition(name, False, None) for name in names if name in spelt]
        else:
            lines = _first_line(statement.node), statement.node.end_lineno
            bound = list(_bound(statement.node))
            found += [Definition(name, _is_stub(node), lines) for name, node in bound if name in names]
    return found


def says(source: str) -> set[str] | None:
    """What a text says, one entry for each statement, however it is laid out; None if it is not Python or hard to compare."""
    try:
        return {ast.dump(statement.node) for statement in statements(source)}
    except (RecursionError, TypeError):  # a piece that is not Python has no node
        return None


def bound_names(node: ast.stmt) -> set[str]:
    """The names that get a value when a statement is run."""
    return {name for name, _ in _bound(node)}


def repaired(source: str) -> str:
    """A text that is Python but for its indentation, mended: moved to the right as a whole, or tabs among blanks."""
    if is_python(source):
        return source
    for mended in (textwrap.dedent(source), *(_without_tabs(source, width) for width in (4, 8))):
        if is_python(mended):
            return mended
    return source


_LINE_MAGIC = re.compile(r"^([ \t]*)(?:[%!?].*|[\w.]+\?{1,2}[ \t]*$|\w+[ \t]*=[ \t]*[%!].*)", re.MULTILINE)
_CELL_MAGIC = re.compile(r"\s*%%(?!time\b|timeit\b|capture\b|prun\b)\w")  # what stands below these four is Python
_STARTS = re.compile(r"def |async def |class |import |from |@")
_DEFINES = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(?P<def>\w+)|^(?P<name>\w+)[ \t]*=(?!=)", re.MULTILINE)


def _parsed(source: str, line: int = 0) -> Iterator[Statement]:
    """The statements of a text that stands ``line`` lines below the beginning."""
    lines = source.split("\n")
    for node in _body(source, line):
        text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        yield Statement(ast.increment_lineno(node, line), text)


def _body(source: str, line: int) -> list[ast.stmt]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source).body
        except SyntaxError as error:
            error.lineno = (error.lineno or 1) + line
            raise
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(f"it cannot be parsed: {error}", ("", 1 + line, 0, "")) from None


def _parsed_in_pieces(source: str) -> Iterator[Statement]:
    """The statements of code that may not be Python as a whole: then of every definition in it that is."""
    try:
        yield from _parsed(source)
        return
    except SyntaxError:
        pass
    line = 0
    for piece in _pieces(source):
        try:
            yield from _parsed(piece, line)
        except SyntaxError as error:
            yield Statement(None, piece, error)
        line += piece.count("\n")


def _pieces(source: str) -> list[str]:
    """Code cut before every definition and import that begins a line."""
    pieces, previous = [""], ""
    for line in source.splitlines(True):
        if _STARTS.match(line) and not previous.startswith("@"):
            pieces.append("")
        pieces[-1] += line
        previous = line
    return [piece for piece in pieces if piece]


def _parses(source: str) -> bool:
    try:
        next(_parsed(source), None)
    except SyntaxError:
        return False
    return True


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Names that a statement binds in its own scope, each with what binds it."""
    todo = [node]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0], node
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            todo += reversed(list(ast.iter_child_nodes(node)))


def _is_stub(node: ast.AST) -> bool:
    """A function that does nothing but say what it will do, or that it is not written."""
    return isinstance(node, ast.FunctionDef) and all(_does_nothing(statement) for statement in node.body)


def _does_nothing(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Raise(exc=ast.Name(id="NotImplementedError") | ast.Call(func=ast.Name(id="NotImplementedError"))):
            return True
    return False


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


def _without_tabs(source: str, width: int) -> str:
    """Code whose lines begin with blanks only."""
    return re.sub(r"^[ \t]+", lambda margin: margin[0].expandtabs(width), source, flags=re.MULTILINE)
