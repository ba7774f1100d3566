"""How the marks of a file look in a terminal and in a log."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.contract.verdict import Verdict
from autograder.marking.marker import Marks
from autograder.support.one_line import one_line

LOG_WIDTH = 120


def print_marks(marks: Marks, console: Console | None = None) -> None:
    """Print a table: a line for each exercise with its points and what it computes instead."""
    console = console or Console(width=None if Console().is_terminal else LOG_WIDTH, highlight=False)
    points = "unmarked" if marks.score is None else f"{marks.score:g} of {marks.max_score:g} points"
    console.print(Text(f"{one_line(marks.file)}: {points}", style="bold"))
    console.print(Text(f"unit {marks.unit}, marked on {marks.device}", style="dim"))
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else None, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("", width=1)
    table.add_column("exercise", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("what it does", ratio=1, overflow="fold")
    for verdict in marks.verdicts:
        sign = Text("✓", style="green") if verdict.passed else Text("✗", style="red")
        points = f"{verdict.score:g}/{verdict.max_score:g}" if verdict.score is not None else f"–/{verdict.max_score:g}"
        sign = Text("?", style="yellow") if verdict.fault else sign
        table.add_row(sign, Text(verdict.exercise), points, _summary(verdict))
    console.print(table)
    console.print()


def _summary(verdict: Verdict) -> Text:
    """A sentence for each mistake, or what is missing if none has a name."""
    if verdict.fault:
        return Text(str(verdict.fault))
    if verdict.passed:
        return Text("right", style="dim")
    if verdict.failure and verdict.failure_everywhere:
        return Text(verdict.failure.message)
    lines = [Text.assemble((mistake.slug, "red"), f": {mistake.message}") for mistake in verdict.mistakes]
    if not lines:
        missing = dict.fromkeys(result.message for result in verdict.results if not result.passed)
        lines = [Text(message) for message in filter(None, [*missing, verdict.remark])]
    return Text("\n").join(lines)
