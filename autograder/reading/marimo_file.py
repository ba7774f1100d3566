"""The code of a marimo notebook, which is a Python file of functions, as the code of an ordinary one."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.reading.python_source import MAX_PARSED_LENGTH


@dataclass(frozen=True)
class _Cell:
    """The code of a cell, and the names that it uses from other cells and defines for them."""

    code: str
    uses: frozenset[str]
    defines: frozenset[str]


def without_marimo(text: str) -> str:
    """The code of a marimo notebook as marimo would run it, at the top level; other text as it is.

    A cell is a function that has the names it uses as parameters and returns those it defines; marimo runs it after the cells
    that define what it uses, wherever it stands.
    """
    try:
        body = ast.parse(text).body if len(text) <= MAX_PARSED_LENGTH else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    if not any(isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("marimo.App(") for node in body):
        return text
    lines = text.split("\n")
    first: list[str] = []
    cells: list[_Cell] = []
    for node in body:
        if isinstance(node, ast.With) and ast.unparse(node.items[0].context_expr) == "app.setup":
            first.append(_dedented(lines, node.body))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list:
            decorator = ast.unparse(node.decorator_list[0]).partition("(")[0]
            if decorator == "app.cell" and not isinstance(node, ast.ClassDef):
                cells.append(_cell(lines, node))
            elif decorator in ("app.function", "app.class_definition"):
                first.append("\n".join(lines[node.lineno - 1 : node.end_lineno]))
    return "\n\n".join([*first, *_in_order(cells)]) + "\n"


def _cell(lines: Sequence[str], node: ast.FunctionDef | ast.AsyncFunctionDef) -> _Cell:
    body, names = node.body, frozenset[str]()
    if isinstance(last := body[-1], ast.Return):
        body, names = body[:-1], frozenset(name.id for name in ast.walk(last) if isinstance(name, ast.Name))
    return _Cell(_dedented(lines, body), frozenset(argument.arg for argument in node.args.args), names)


def _dedented(lines: Sequence[str], body: Sequence[ast.stmt]) -> str:
    """The text of statements, without the indentation that they have in common."""
    if not body:
        return ""
    first = min([body[0].lineno, *(decorator.lineno for decorator in getattr(body[0], "decorator_list", ()))])
    return textwrap.dedent("\n".join(lines[first - 1 : body[-1].end_lineno]))


def _in_order(cells: Sequence[_Cell]) -> Iterator[str]:
    """The code of cells, each after those that define what it uses; as written where they use each other."""
    waiting = list(cells)
    while waiting:
        ready = next((cell for cell in waiting if not _lacks(cell, waiting)), waiting[0])
        waiting.remove(ready)
        yield ready.code


def _lacks(cell: _Cell, waiting: Sequence[_Cell]) -> bool:
    """Whether a cell uses what one of the others that are waiting defines."""
    return any(cell.uses & other.defines for other in waiting if other is not cell)
