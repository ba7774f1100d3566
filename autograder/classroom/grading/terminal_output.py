"""What ``grade`` and ``feedback`` print: progress while they run, and a summary of the marks at the end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from autograder.classroom.grading.grading_run import Outcome
from autograder.classroom.grading.marks_store import StudentMarks

MIN_WIDTH = 110
"""Characters in a line of the summary: where there is no terminal, rich would cut the lines."""

MAX_PROGRESS_LINES = 10
"""Lines about progress where there is no terminal, such as in a log."""


@contextlib.contextmanager
def progress(number: int, doing: str = "marking", done: str = "marked") -> Iterator[Callable[[], None]]:
    """Show progress and the remaining time on stderr.

    Args:
        number: how many submissions there are.
        doing, done: words for what happens to them.

    Yields:
        A function to call after each submission.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _line_printer(console, number, done)
        return
    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"))
    with Progress(*columns, TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task(doing, total=number)
        yield lambda: bar.advance(task)


def _line_printer(console: Console, number: int, word: str) -> Callable[[], None]:
    began, done = time.monotonic(), 0  # a monotonic clock is not affected when the time is set

    def advance() -> None:
        nonlocal done
        done += 1
        if done * MAX_PROGRESS_LINES // number > (done - 1) * MAX_PROGRESS_LINES // number:
            left = (time.monotonic() - began) / done * (number - done)
            console.print(f"{done} of {number} {word}, about {left:.0f} s left", highlight=False)

    return advance


def print_summary(outcome: Outcome) -> None:
    """Print a table with a line for each unit to stdout, and the totals."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("unit")
    unmarked = ["unmarked"] if outcome.unmarked else []
    for name in ("handed in", "marked now", "unchanged", *unmarked, "mean", "of", "full marks", "no points", "unreadable"):
        table.add_column(name, justify="right")
    every = [*outcome.marked, *outcome.unchanged]
    for unit in sorted({marks.unit for marks in every} | {unit for _, unit in outcome.unmarked}):
        table.add_row(unit, *_numbers(outcome, unit, [marks for marks in every if marks.unit == unit]))
    if table.rows:
        Console(width=max(MIN_WIDTH, Console().width)).print(table)
    totals = [f"{len(outcome.marked)} marked", f"{len(outcome.unchanged)} unchanged"]
    totals += [f"{len(outcome.unmarked)} unmarked"] if outcome.unmarked else []
    print(", ".join([*totals, f"{outcome.recorded} put into the gradebook"]))


def _numbers(outcome: Outcome, unit: str, marks: list[StudentMarks]) -> Iterator[str]:
    """The cells of a unit's line in the summary."""
    unmarked, scores = sum(one == unit for _, one in outcome.unmarked), [one.score for one in marks if one.score is not None]
    yield str(len(marks) + unmarked)
    yield str(sum(one.unit == unit for one in outcome.marked))
    yield str(sum(one.unit == unit for one in outcome.unchanged))
    if outcome.unmarked:
        yield str(unmarked)
    yield f"{sum(scores) / len(scores):.1f}" if scores else "–"
    yield f"{max(one.max_score for one in marks):g}" if marks else "–"
    yield str(sum(one.score == one.max_score for one in marks))
    yield str(sum(one.score == 0 for one in marks))
    yield str(sum(bool(one.problem) for one in marks))
