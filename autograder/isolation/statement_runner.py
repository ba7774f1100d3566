"""Run the code of a submission statement by statement, so that a failing one costs only what it would have defined.

A notebook and a file with the same code are run the same way: cells matter only where one cannot be parsed.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import io
import linecache
import os
import re
import sys
import types
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autograder.contract.cell import Cell
from autograder.contract.observation import Failure
from autograder.isolation.cell_reports import MAX_PRINTED, CellReport
from autograder.isolation.demonstrations import demonstrations
from autograder.isolation.limits import Limits
from autograder.isolation.written_modules import make_importable, written_modules
from autograder.observing.student_calls import TimeLimitExceeded, seeded, silenced, stopwatch, time_limit, type_name
from autograder.reading.python_source import DEFINITIONS, bound_names, statements
from autograder.support.one_line import one_line

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

SHOWN_ONLY = {"check", "explore", "predict", "display", "show_fingerprint", "show_puzzle", "show_progress", "live_run"}
"""Functions that show something and define nothing. A statement that only calls one is skipped: marking needs no pictures."""


@dataclass(frozen=True)
class Statement:
    """A statement of a submission, or a piece of one that is not Python."""

    node: ast.stmt | None
    source: str
    cell: Cell
    error: SyntaxError | None = None


@dataclass(frozen=True)
class Trouble:
    """What went wrong with a statement, in words, and whether it was only that a name was not there."""

    what: str
    lacks_name: bool = False


class _NullIO(io.RawIOBase):
    """Discards what is written to it."""

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        return memoryview(data).nbytes


class _Printed(io.TextIOWrapper):
    """Keeps the beginning of what each cell prints; otherwise behaves like a file that discards everything."""

    def __init__(self) -> None:
        super().__init__(_NullIO(), encoding="utf-8", errors="replace")  # type: ignore[arg-type] # any raw stream will do
        self.cell = ""
        self.texts: dict[str, str] = {}

    def write(self, text: str) -> int:
        kept = self.texts.get(self.cell, "")
        if len(kept) < MAX_PRINTED:
            self.texts[self.cell] = kept + str(text)[: MAX_PRINTED - len(kept)]
        return len(text)


@dataclass
class Loaded:
    """A submission after its code was run: what it defines, what it printed and what went wrong."""

    module: types.ModuleType
    troubles: list[tuple[Statement, str]] = field(default_factory=list)
    printed: dict[str, str] = field(default_factory=dict)

    def reports(self) -> list[CellReport]:
        """Reports on the cells that printed something or went wrong."""
        wrong: dict[str, str] = {}
        for statement, trouble in self.troubles:
            wrong[statement.cell.name] = f"{wrong.get(statement.cell.name, '')}{trouble}\n"[:MAX_PRINTED]
        names = dict.fromkeys([*self.printed, *wrong])
        return [CellReport(name, self.printed.get(name, ""), wrong.get(name, "")) for name in names]

    @property
    def namespace(self) -> dict[str, object]:
        return self.module.__dict__

    def why_missing(self, name: str) -> Failure:
        """Why a function is not there, in a line for the student."""
        defines = re.compile(rf"\b(def|class)\s+{re.escape(name)}\b|^{re.escape(name)}\s*=", re.MULTILINE)
        said = [f": {trouble}" for statement, trouble in self.troubles if defines.search(statement.source)]
        return Failure("broken" if said else "missing", f"There is no function called {name}{said[-1] if said else ''}.")


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
        before: called with each statement's number before it is run, and again if it is retried because it lacked a name.
    """
    loaded = Loaded(types.ModuleType("__main__"))
    loaded.namespace["display"] = lambda *args, **kwargs: None
    flags, used, printed = 0, stopwatch(), _Printed()
    loaded.printed = printed.texts
    troubles: dict[int, tuple[Statement, Trouble]] = {}
    latest: dict[str, int] = {}

    def attempt(number: int, statement: Statement) -> bool:
        nonlocal flags
        if number in unneeded:
            return True
        before(number)
        printed.cell = statement.cell.name
        trouble: Trouble | None
        left = limits.load - used()
        if number in skip:
            trouble = Trouble("it ended the process")
        elif left <= 0 and not isinstance(statement.node, DEFINITIONS):
            trouble = Trouble(f"the code before it ran for more than {limits.load:g} seconds")
        else:
            seconds = limits.statement if isinstance(statement.node, DEFINITIONS) else min(limits.statement, limits.trial)
            flags, trouble = _run_one(statement, loaded.namespace, flags, min(seconds, max(left, 1.0)))
        if trouble:
            troubles[number] = statement, trouble
            return False
        troubles.pop(number, None)
        latest.update(dict.fromkeys(_bound_names(statement), number))
        return True

    make_importable(written_modules(cells))
    with silenced(), contextlib.redirect_stdout(printed), seeded(0), as_main(loaded.module), _without_screen():
        unneeded = demonstrations(cells)
        for number, statement in enumerate(_statements(cells)):
            attempt(number, statement)
        succeeded = True
        while succeeded:  # a statement that lacked a name may find it now, unless a later one has defined the same names
            succeeded = False
            for number, (statement, trouble) in list(troubles.items()):
                overtaken = trouble.lacks_name and any(latest.get(name, -1) > number for name in _bound_names(statement))
                if trouble.lacks_name and not overtaken and used() < limits.load:
                    succeeded |= attempt(number, statement)
    loaded.troubles = [(s, f"in {s.cell.name}, {trouble.what}") for s, trouble in troubles.values()]
    return loaded


@contextlib.contextmanager
def as_main(module: types.ModuleType) -> Iterator[None]:
    """Make ``module`` the main module, where pickle, dataclasses and multiprocessing look for what a submission defines."""
    before = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        yield
    finally:
        sys.modules["__main__"] = before


_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def _run_one(statement: Statement, namespace: dict, flags: int, seconds: float) -> tuple[int, Trouble | None]:
    """Run a statement; return the compiler flags for the next ones, and what went wrong, if anything did."""
    if statement.error:
        return flags, Trouble(f"line {statement.error.lineno} is not Python ({statement.error.msg})")
    node = statement.node
    assert node is not None, "only what is not Python has no node"
    if _only_shows(node):
        return flags, None
    line = node.lineno
    try:
        with time_limit(seconds):
            try:
                code = compile(ast.Module([node], []), _file_name(statement.cell), "exec", flags, dont_inherit=True)
                flags |= code.co_flags & _FUTURES
                exec(code, namespace)
            except (TimeLimitExceeded, KeyboardInterrupt):
                raise
            except BaseException as error:  # described here, because its message, too, is made by student code
                return flags, Trouble(f"line {line} raised {_described(error)}", isinstance(error, NameError))
    except TimeLimitExceeded:
        return flags, Trouble(f"line {line} was still running after {seconds:g} seconds")
    return flags, None


def _described(error: BaseException) -> str:
    try:
        message = one_line(str(error).strip(), 120)
    except Exception:  # a student's own exception may fail to make its message
        message = ""
    return one_line(type_name(error), 120) + (f": {message}" if message else "")


def _statements(cells: Collection[Cell]) -> Iterator[Statement]:
    for cell in cells:
        linecache.cache[_file_name(cell)] = len(cell.source), None, cell.source.splitlines(True), _file_name(cell)
        for found in statements(cell.source):
            yield Statement(found.node, found.source, cell, found.error)


def _bound_names(statement: Statement) -> Collection[str]:
    return bound_names(statement.node) if statement.node else ()


def _only_shows(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in SHOWN_ONLY


def _file_name(cell: Cell) -> str:
    return f"<{cell.name}>"


@contextlib.contextmanager
def _without_screen() -> Iterator[None]:
    """Have matplotlib draw without a screen."""
    before = os.environ.get("MPLBACKEND")
    os.environ["MPLBACKEND"] = "Agg"
    try:
        yield
    finally:
        if before is None:
            del os.environ["MPLBACKEND"]
        else:
            os.environ["MPLBACKEND"] = before
