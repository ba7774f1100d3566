"""What ``grade`` and ``feedback`` print: progress while they run, and a summary of the marks at the end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from autograder.classroom.gradebook.class_marks import ClassMarks
from autograder.classroom.grading.grading_run import Outcome
from autograder.reading.notebook_json import what_it_is
from autograder.support.one_line import one_line

MIN_WIDTH = 130
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


def print_summary(outcome: Outcome, points: ClassMarks | None) -> None:
    """Print a table with a line for each unit to stdout, and the totals.

    Args:
        outcome: of grading.
        points: in the gradebook; what is not in it counts as it was marked.
    """
    every = sorted([*outcome.marked, *outcome.unchanged], key=lambda one: (one.unit, one.student))
    units = {
        unit: _Unit(unit, outcome, points) for unit in {one.unit for one in every} | {unit for _, unit in outcome.unmarked}
    }
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("unit")
    columns = {name: [one.cells[name] for _, one in sorted(units.items())] for name in _Unit.COLUMNS}
    columns = {name: cells for name, cells in columns.items() if name not in _Unit.IF_ANY or set(cells) != {"0"}}
    for name in columns:
        table.add_column(name, justify="right")
    for unit, *cells in zip(sorted(units), *columns.values(), strict=True):
        table.add_row(unit, *cells)
    if table.rows:
        Console(width=max(MIN_WIDTH, Console().width)).print(table)
    for one in every:
        if one.damage:
            print(one_line(f"{one.student}, {one.unit}: the file {one.damage}; these were marked"))
        if one.problem:
            print(
                one_line(f"{one.student}, {one.unit}: nothing could be read: {what_it_is(one.problem)}; ask for another copy")
            )
    totals = [f"{len(outcome.marked)} marked", f"{len(outcome.unchanged)} unchanged"]
    totals += [f"{len(outcome.unmarked)} unmarked"] if outcome.unmarked else []
    print(", ".join([*totals, f"{outcome.recorded} put into the gradebook"]))


class _Unit:
    """A unit's line in the summary, as text by column."""

    COLUMNS = (
        *("handed in", "marked now", "unchanged", "unmarked", "mean", "of", "full marks", "no points", "unreadable"),
        *("damaged", "late", "by hand"),
    )
    IF_ANY = ("unmarked", "damaged", "late", "by hand")
    """Columns that are left out where they would be 0 for all units."""

    def __init__(self, unit: str, outcome: Outcome, points: ClassMarks | None):
        marked = [one for one in (*outcome.marked, *outcome.unchanged) if one.unit == unit]
        entries = points.submissions if points else {}
        known = [entry for one in marked if (entry := entries.get((one.student, unit)))]
        scores = [entry.score for entry in known]
        scores += [one.score for one in marked if (one.student, unit) not in entries and one.score is not None]
        unmarked = sum(one == unit for _, one in outcome.unmarked)
        most = points.max_scores[unit] if known and points else max((one.max_score for one in marked), default=None)
        self.cells = {
            "handed in": str(len(marked) + unmarked),
            "marked now": str(sum(one.unit == unit for one in outcome.marked)),
            "unchanged": str(sum(one.unit == unit for one in outcome.unchanged)),
            "unmarked": str(unmarked),
            "mean": f"{sum(scores) / len(scores):.1f}" if scores else "–",
            "of": "–" if most is None else f"{most:g}",
            "full marks": str(sum(score == most for score in scores)),
            "no points": str(sum(score == 0 for score in scores)),
            "unreadable": str(sum(bool(one.problem) for one in marked)),
            "damaged": str(sum(bool(one.damage) for one in marked)),
            "late": str(sum(entry.penalty > 0 for entry in known)),
            "by hand": str(sum(entry.by_hand for entry in known)),
        }
