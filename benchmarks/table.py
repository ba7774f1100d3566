"""Rows of measured times, the Markdown table they make, and the page that all tables are written into."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.support.atomic_files import write_atomically

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures.md"


@dataclass(frozen=True)
class Row:
    """One measurement.

    Attributes:
        what: what was timed.
        budget: upper limit of the median, or of the 95th percentile if ``by_tail``, in seconds.
        times: all repetitions in a warm process, in seconds.
        first: the very first call in its process, in seconds, if it differs.
    """

    what: str
    budget: float | None
    times: Sequence[float]
    first: float | None = None
    by_tail: bool = False

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.times, n=20, method="inclusive")[-1]

    @property
    def within_budget(self) -> bool:
        return self.budget is None or (self.p95 if self.by_tail else self.median) <= self.budget


def as_markdown(rows: Sequence[Row]) -> str:
    """The table, a line for each row."""
    lines = ["| what | budget | median | p95 | first call | runs |", "|---|---|---|---|---|---|"]
    for row in rows:
        budget = "" if row.budget is None else f"≤ {seconds(row.budget)}{' (p95)' if row.by_tail else ''}"
        first = "" if row.first is None else seconds(row.first)
        cells = (row.what, budget, seconds(row.median), seconds(row.p95), first, str(len(row.times)))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def seconds(value: float) -> str:
    """A duration with two significant digits, in milliseconds below a second."""
    return f"{value:.2g} s" if value >= 0.995 else f"{1000 * value:.2g} ms" if value < 0.0995 else f"{1000 * value:.0f} ms"


def write_figures(name: str, text: str, page: Path = FIGURES) -> None:
    """Put a table into a page, that of all figures if none is named, between the two comments that have its name.

    Raises:
        ValueError: the page has no place of this name.
    """
    before = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    after, places = re.subn(f"{begin}.*{end}", lambda _: f"{begin}\n\n{text.strip()}\n\n{end}", before, flags=re.DOTALL)
    if places != 1:
        raise ValueError(f"{page}: {begin} … {end} stands there {places} times, not once")
    write_atomically(page, after)
