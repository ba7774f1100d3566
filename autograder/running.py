"""Run the code of a submission, statement by statement, so that what fails costs only what it would have defined.

A notebook and a file with the same code are run the same way: cells matter only where one cannot be parsed.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import linecache
import os
import re
import sys
import types
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from autograder.exercise import SECONDS
from autograder.student_code import OutOfTime, quiet, seeded, stopwatch, time_limit
from autograder.submissions import Cell, one_line

SHOWN_ONLY = {"check", "explore", "predict", "display", "show_fingerprint", "show_puzzle", "show_progress"}
"""Calls that show something and define nothing. As statements of their own they are skipped: marking needs no pictures."""


@dataclass(frozen=True)
class Limits:
    """What a submission may use; seconds as :func:`autograder.student_code.stopwatch` counts them.

    Attributes:
        statement: seconds for one statement outside of functions.
        load: seconds for all of them; after it only definitions and imports are still run.
        trial: seconds for a function on one trial.
        grace: more seconds, by the clock, until a process is ended that does not heed the other limits.
        memory: bytes of data of a process that marks on the CPU.
    """

    statement: float = 30.0
    load: float = 120.0
    trial: float = SECONDS
    grace: float = 5.0
    memory: int = 6 * 2**30


@dataclass(frozen=True)
class Statement:
    """A statement of a submission, or a piece of one that is not Python."""

    node: ast.stmt | None
    source: str
    cell: Cell
    error: SyntaxError | None = None


@dataclass
class Loaded:
    """A submission whose code was run: what it defines and what went wrong."""

    module: types.ModuleType
    troubles: list[tuple[Statement, str]] = field(default_factory=list)

    @property
    def namespace(self) -> dict[str, object]:
        return self.module.__dict__

    def why_missing(self, name: str) -> str:
        """One line for a student about a function that is not there."""
        defines = re.compile(rf"\b(def|class)\s+{re.escape(name)}\b|^{re.escape(name)}\s*=", re.MULTILINE)
        said = [f": {trouble}" for statement, trouble in self.troubles if defines.search(statement.source)]
        return f"There is no function called {name}{said[-1] if said else ''}."


def run(
    cells: Collection[Cell],
    limits: Limits,
    skip: Collection[int] = (),
    before: Callable[[int], None] = lambda number: None,
) -> Loaded:
    """Run code in a fresh namespace, as the main module of a program would be.

    Args:
        cells: in the order in which they are run.
        limits: of time.
        skip: numbers of statements not to run, because they ended an earlier process.
        before: called with each statement's number before it is run.
    """
    loaded = Loaded(types.ModuleType("__main__"))
    loaded.namespace["display"] = lambda *args, **kwargs: None
    flags, used = 0, stopwatch()
    with quiet(), seeded(0), as_main(loaded.module), _agg():
        for number, statement in enumerate(_statements(cells)):
            before(number)
            left = limits.load - used()
            if number in skip:
                trouble = "it ended the process"
            elif left <= 0 and not isinstance(statement.node, _DEFINITIONS):
                trouble = f"the code before it ran for more than {limits.load:g} seconds"
            else:
                seconds = min(limits.statement, max(left, 1.0))
                flags, trouble = _run_one(statement, loaded.namespace, flags, seconds)
            if trouble:
                loaded.troubles.append((statement, f"in {statement.cell.name}, {trouble}"))
    return loaded


@contextlib.contextmanager
def as_main(module: types.ModuleType) -> Iterator[None]:
    """Let ``module`` be ``__main__``: pickle, dataclasses and multiprocessing look there for what a submission defines."""
    before = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        yield
    finally:
        sys.modules["__main__"] = before


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_LINE_MAGIC = re.compile(r"^([ \t]*)(?:[%!?].*|[\w.]+\?{1,2}[ \t]*$|\w+[ \t]*=[ \t]*[%!].*)", re.MULTILINE)
_CELL_MAGIC = re.compile(r"\s*%%(?!time\b|timeit\b|capture\b|prun\b)\w")  # what stands below these four is Python
_STARTS = re.compile(r"def |async def |class |import |from |@")


def _run_one(statement: Statement, namespace: dict, flags: int, seconds: float) -> tuple[int, str]:
    """Run a statement; the compiler flags it leaves to the next ones, and in words what went wrong, if anything did."""
    if statement.error:
        return flags, f"line {statement.error.lineno} is not Python ({statement.error.msg})"
    if _only_shows(statement.node):
        return flags, ""
    line = statement.node.lineno
    try:
        with time_limit(seconds):
            try:
                code = compile(ast.Module([statement.node], []), _file_name(statement.cell), "exec", flags, dont_inherit=True)
                flags |= code.co_flags & _FUTURES
                exec(code, namespace)
            except (OutOfTime, KeyboardInterrupt):
                raise
            except BaseException as error:  # named here, because an error's own words are student code, too
                return flags, f"line {line} raised {_named(error)}"
    except OutOfTime:
        return flags, f"line {line} was still running after {seconds:g} seconds"
    return flags, ""


def _named(error: BaseException) -> str:
    try:
        said = one_line(str(error).strip())[:120]
    except Exception:  # a student's own exception may not know how to say what it is
        said = ""
    return type(error).__name__ + (f": {said}" if said else "")


def _statements(cells: Collection[Cell]) -> Iterator[Statement]:
    for cell in cells:
        if _CELL_MAGIC.match(cell.source):
            continue
        linecache.cache[_file_name(cell)] = len(cell.source), None, cell.source.splitlines(True), _file_name(cell)
        try:
            yield from _parsed(cell, cell.source)
        except SyntaxError:
            yield from _parsed_in_pieces(cell, _LINE_MAGIC.sub(r"\1pass", cell.source))


def _parsed(cell: Cell, source: str, first_line: int = 0) -> Iterator[Statement]:
    text = "\n" * first_line + source
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            body = ast.parse(text).body
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(f"it cannot be parsed: {error}", ("", 1, 0, "")) from None
    lines = text.split("\n")
    for node in body:
        yield Statement(node, "\n".join(lines[node.lineno - 1 : node.end_lineno]), cell)


def _parsed_in_pieces(cell: Cell, source: str) -> Iterator[Statement]:
    """The statements of code that may not be Python as a whole: then of every definition in it that is."""
    try:
        yield from _parsed(cell, source)
        return
    except SyntaxError:
        pass
    line = 0
    for piece in _pieces(source):
        try:
            yield from _parsed(cell, piece, line)
        except SyntaxError as error:
            yield Statement(None, piece, cell, error)
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


def _only_shows(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in SHOWN_ONLY


def _file_name(cell: Cell) -> str:
    return f"<{cell.name}>"


@contextlib.contextmanager
def _agg() -> Iterator[None]:
    """Draw without a screen."""
    before = os.environ.get("MPLBACKEND")
    os.environ["MPLBACKEND"] = "Agg"
    try:
        yield
    finally:
        if before is None:
            del os.environ["MPLBACKEND"]
        else:
            os.environ["MPLBACKEND"] = before
