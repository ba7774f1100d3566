"""A cell's text as Python, as far as it is Python: its statements, what they define, and which are only placeholders.

Nothing is executed, and nothing here needs torch.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

MAX_PARSED_LENGTH = 100_000
"""Characters of the longest text that is parsed when a submission is read: parsing takes up to 900 bytes for each."""


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
"""Statements that do nothing but give names a meaning."""


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
        name: the name.
        stub: whether it is a function that has not been written yet: its body is only a placeholder.
        lines: the first and the last line of its statement, counted from 1; None where the text is not Python.
    """

    name: str
    stub: bool
    lines: tuple[int, int] | None


@dataclass(frozen=True)
class PythonSource:
    """A text with its meaning as Python. It is parsed when its meaning is first asked for, and then not again.

    Only what is needed later is kept. A syntax tree takes up to 350 bytes for each character of the text, too much for all
    cells of a large notebook at once; so :attr:`statement_set`, which few texts are asked for, parses on its own.

    Attributes:
        text: the text; one that is longer than :data:`MAX_PARSED_LENGTH` counts as not Python and defines nothing.
        names: the names whose definitions are looked for.
    """

    text: str
    names: Collection[str] = ()

    @property
    def is_python(self) -> bool:
        """Whether the text is Python, apart from lines that only IPython understands."""
        return self._parsed[0]

    def definitions(self, names: Collection[str]) -> list[Definition]:
        """Where the text defines one of these names, which must be among :attr:`names`.

        Definitions count at the top level of the text and in an ``if``, ``try``, ``with`` or loop there.
        """
        return [definition for definition in self._parsed[1] if definition.name in names]

    @cached_property
    def statement_set(self) -> frozenset[str] | None:
        """One entry for each statement, the same however it is laid out; None if the text is not Python or hard to compare."""
        if len(self.text) > MAX_PARSED_LENGTH:
            return None
        dumps = set()
        for statement in statements(self.text):
            if statement.node is None:
                return None
            try:
                dumps.add(ast.dump(statement.node))
            except RecursionError:
                return None
        return frozenset(dumps)

    @cached_property
    def with_fixed_indentation(self) -> PythonSource:
        """The text as Python if only its indentation is wrong (all of it indented, or tabs among spaces), else as it is."""
        if not self.is_python:
            fixes = (textwrap.dedent(self.text), *(_without_tabs(self.text, width) for width in (4, 8)))
            for text in dict.fromkeys(fixes):
                if text != self.text and (fixed := self.with_text(text)).is_python:
                    return fixed
        return self

    def with_text(self, text: str) -> PythonSource:
        """Another text, in which the same names are looked for."""
        return PythonSource(text, self.names)

    @cached_property
    def _parsed(self) -> tuple[bool, tuple[Definition, ...]]:
        """Whether the text is Python, and its definitions of :attr:`names`."""
        if len(self.text) > MAX_PARSED_LENGTH:
            return False, ()
        is_python, found = _parse(self.text)
        return is_python, tuple(definition for statement in found for definition in _definitions(statement, self.names))


def statements(text: str) -> Iterator[Statement]:
    """The statements of a text; lines that only IPython understands are passed over, and so is a cell in another language.

    Of a text that is not Python as a whole, all definitions and imports that are Python on their own.
    """
    return _parse(text)[1]


def bound_names(node: ast.stmt) -> set[str]:
    """The names that get a value when a statement is run."""
    return {name for name, _ in _bindings(node)}


_LINE_MAGIC = re.compile(r"^([ \t]*)(?:[%!?].*|[\w.]+\?{1,2}[ \t]*$|\w+[ \t]*=[ \t]*[%!].*)", re.MULTILINE)
_CELL_MAGIC = re.compile(r"\s*%%(?!time\b|timeit\b|capture\b|prun\b)\w")  # what stands below these four is Python
_PIECE_START = re.compile(r"def |async def |class |import |from |@")
_SPELT_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(?P<def>\w+)|^(?P<name>\w+)[ \t]*=(?!=)", re.MULTILINE)


def _parse(text: str) -> tuple[bool, Iterator[Statement]]:
    """Whether a text is Python as a whole, and its statements."""
    if _CELL_MAGIC.match(text):
        return False, iter(())
    try:
        return True, _with_sources(_body(text), text)
    except SyntaxError as error:
        code, problem = _LINE_MAGIC.sub(r"\1pass", text), error
    if code != text:
        try:
            return True, _with_sources(_body(code), code)
        except SyntaxError as error:
            problem = error
    return False, _statements_of_pieces(code, problem)


def _body(code: str, line: int = 0) -> list[ast.stmt]:
    """The syntax trees of code; ``line`` lines stand before it, which lines in errors count as well.

    Raises:
        SyntaxError: it is not Python, or cannot be parsed for another reason.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code).body
        except SyntaxError as error:
            error.lineno = (error.lineno or 1) + line
            raise
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(f"it cannot be parsed: {error}", ("", 1 + line, 0, "")) from None


def _with_sources(body: list[ast.stmt], code: str, line: int = 0) -> Iterator[Statement]:
    """Each statement with its text; lines count the ``line`` lines that stand before the code."""
    lines = code.split("\n")
    for node in body:
        text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        yield Statement(ast.increment_lineno(node, line), text)


def _statements_of_pieces(code: str, problem: SyntaxError) -> Iterator[Statement]:
    """The statements of code that, as a whole, has a problem: those of each piece that is Python, and the other pieces."""
    pieces = _pieces(code)
    if len(pieces) == 1:
        yield Statement(None, code, problem)
        return
    line = 0
    for piece in pieces:
        try:
            yield from _with_sources(_body(piece, line), piece, line)
        except SyntaxError as error:
            yield Statement(None, piece, error)
        line += piece.count("\n")


def _pieces(code: str) -> list[str]:
    """Code cut before every definition and import that begins a line."""
    pieces, previous = [""], ""
    for line in code.splitlines(True):
        if _PIECE_START.match(line) and not previous.startswith("@"):
            pieces.append("")
        pieces[-1] += line
        previous = line
    return [piece for piece in pieces if piece]


def _definitions(statement: Statement, names: Collection[str]) -> Iterator[Definition]:
    """Where a statement defines one of the names; in a piece that is not Python, each name that it seems to define, once."""
    if statement.node is None:
        spelt = dict.fromkeys(match["def"] or match["name"] for match in _SPELT_DEFINITION.finditer(statement.source))
        yield from (Definition(name, False, None) for name in spelt if name in names)
    else:
        lines = _line_range(statement.node)
        yield from (Definition(name, _is_stub(node), lines) for name, node in _bindings(statement.node) if name in names)


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Names that a statement binds in its own scope, each with the node that binds it."""
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
    """Whether this is a function that only says what it will do, or that it has not been written."""
    return isinstance(node, ast.FunctionDef) and all(_is_placeholder(statement) for statement in node.body)


def _is_placeholder(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Raise(exc=ast.Name(id="NotImplementedError") | ast.Call(func=ast.Name(id="NotImplementedError"))):
            return True
    return False


def _line_range(node: ast.stmt) -> tuple[int, int]:
    """The first line, that of a decorator if there is one, and the last."""
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return first, node.end_lineno or node.lineno


def _without_tabs(text: str, width: int) -> str:
    """Code whose lines begin with spaces only."""
    return re.sub(r"^[ \t]+", lambda margin: margin[0].expandtabs(width), text, flags=re.MULTILINE)
