"""Pictures that a notebook of ``course/`` shows before it has been run, such as on the page of a code host.

They are what explorables, fingerprints and the puzzle show at first. Printed numbers are not among them: those differ between
machines.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import textwrap
from collections.abc import Iterator
from html import escape
from typing import Any

import nbformat
from nbformat.v4 import new_output

from autograder.exercises.unit_04_training_loop.puzzle import Puzzle
from gradaccum.drawing import DPI, as_png
from gradaccum.notebook.explore import Panel
from gradaccum.notebook.showing import Picture

SHOWING = ("explore", "show_fingerprint", "show_puzzle")
"""Functions that return a picture, if they are the last thing that a cell calls."""


def with_stills(text: str) -> str:
    """A released notebook whose pictures and their captions are there already; all else in it stays as it is."""
    notebook = nbformat.reads(text, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for place, cell in enumerate(code):
        if _shows_a_picture(last := ast.parse(cell.source).body[-1]):
            shown = _value_of(last, [statement for one in code[: place + 1] for statement in ast.parse(one.source).body])
            cell.outputs = list(_outputs(shown))
    return nbformat.writes(notebook) + "\n"


def without_stills(text: str) -> str:
    """The notebook as nbgrader has released it."""
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    return nbformat.writes(notebook) + "\n"


def _shows_a_picture(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in SHOWING


def _value_of(last: ast.Expr, statements: list[ast.stmt]) -> Any:
    """What the last of these statements returns, after those of them that bind the names it depends on."""
    *earlier, _ = statements
    wanted = _names(last, ast.Load)
    needed: list[ast.stmt] = []
    for statement in reversed(earlier):
        if _bound(statement) & wanted:
            needed.insert(0, statement)
            wanted |= _names(statement, ast.Load)
    namespace: dict[str, Any] = {}
    with contextlib.redirect_stdout(None):
        exec(compile(ast.Module(needed, []), "<cells>", "exec"), namespace)
        return eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement binds where it stands."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.split(".")[0] for alias in statement.names}
    return _names(statement, ast.Store)


def _names(statement: ast.stmt, context: type[ast.expr_context]) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


def _outputs(shown: Panel | Picture | Puzzle) -> Iterator[nbformat.NotebookNode]:
    """A picture and its caption, as the cell's outputs: code hosts show files and plain text, whatever they make of HTML."""
    if isinstance(shown, Puzzle):
        yield from _outputs(shown.picture)
        yield new_output("display_data", shown.choices)
        return
    if isinstance(shown, Panel):
        if shown.error:
            raise shown.error
        png, alt, caption, size = shown._repr_mimebundle_()["image/png"], shown.caption, shown.caption, shown.phenomenon.SIZE
    else:
        png, alt, caption = base64.b64encode(as_png(shown.figure)).decode(), shown.alt, shown.caption
        size = shown.figure.get_size_inches()
    about = {"alt": alt} | {side: round(DPI * inches) for side, inches in zip(("width", "height"), size, strict=True)}
    yield new_output("display_data", {"image/png": png, "text/plain": alt}, metadata={"image/png": about})
    if caption:
        yield new_output("display_data", {"text/html": f"<p>{escape(caption)}</p>", "text/plain": textwrap.fill(caption, 100)})
