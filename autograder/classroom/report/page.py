"""The class report as one page of HTML, and as CSV.

The page contains everything it needs, so it opens from disk without a network. Its script only sorts: without it, the page is
complete.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.classroom.csv_cells import formula_safe
from autograder.classroom.report.alike import AlikeReport
from autograder.classroom.report.class_report import ClassReport, MistakeReport, UnitReport, middle
from autograder.classroom.report.discrimination import MIN_STUDENTS
from autograder.classroom.report.student_report import (
    NOT_DUE,
    PARTLY,
    STATES,
    WAITING,
    WRONG,
    Result,
)
from autograder.support.atomic_files import write_atomically
from gradaccum.fingerprint_tables import TITLES
from gradaccum.theme import GREY, LINE, VERMILLION, text_color

if TYPE_CHECKING:
    from markupsafe import Markup

SIGNS = dict(zip(STATES, "✓◐✗!?○◌–·…", strict=True))
"""A sign for each state, so that colour is never the only difference."""
CLASSES = dict(
    zip(
        STATES,
        ("solved", "partly", "wrong", "broken", "unreadable", "unwritten", "gone", "absent", "undue", "waiting"),
        strict=True,
    )
)
HISTOGRAM_BINS = 10
MAX_COLUMNS = 15
"""Exercises side by side in one table: as many as fit on an A4 page."""
MAX_EXAMPLES, MAX_REVISITS = 10, 10
"""Mistakes shown with an example, and sections to revisit: as many as fit into an hour."""

CSV_COLUMNS = ("student", "first_name", "last_name", "unit", "exercise", "score", "max_score", "passed", "slugs", "state")


def page_path(directory: Path, to: Path | None) -> Path:
    """The path of a class's page.

    Args:
        directory: of the class.
        to: a path or a directory that exists; by default ``report.html`` in the class.

    Raises:
        ValueError: ``to`` is neither a directory nor the name of a page.
    """
    page = directory / "report.html" if to is None else to / "report.html" if to.is_dir() else to
    if page.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{page} is no name for a page; end it in .html, or name a directory that is there")
    return page


def table_path(page: Path) -> Path:
    """The path of the table that belongs to a page."""
    return page.with_suffix(".csv")


def write_report(report: ClassReport, page: Path, made: datetime, alike: AlikeReport | None = None) -> tuple[Path, Path]:
    """Write the page, and next to it the table under the same name with ``.csv``.

    Returns:
        The paths of the page and of the table.

    Raises:
        OSError: one cannot be written; an earlier file is still there.
    """
    table = table_path(page)
    texts = {page: report_html(report, made, alike), table: report_csv(report)}
    for path, text in texts.items():
        write_atomically(path, text.encode(errors="backslashreplace").decode())  # names of folders may not be valid Unicode
    return page, table


def report_csv(report: ClassReport) -> str:
    """A line for each student and exercise. Points are empty where a submission waits to be marked or is not due."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for student in report.students:
        person = [formula_safe(value) for value in (student.person.id, student.person.first_name, student.person.last_name)]
        for result in student.results:
            open_yet = result.state in (WAITING, NOT_DUE)
            points = "" if open_yet else f"{result.points:g}"
            passed = "" if open_yet else result.passed
            marks = [points, f"{result.max_points:g}", passed, formula_safe(" ".join(result.mistakes)), result.state]
            writer.writerow([*person, result.unit, formula_safe(result.exercise), *marks])
    return text.getvalue()


def report_html(report: ClassReport, made: datetime, alike: AlikeReport | None = None) -> str:
    """The page as text. Everything that students or instructors wrote is escaped.

    Args:
        report: on the class.
        made: when.
        alike: answers that are alike, if they were asked for.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    page = Environment(
        loader=PackageLoader("autograder.classroom.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    filters: dict[str, Callable[..., str]] = {
        "points": _points,
        "percent": _percent,
        "number": lambda unit: unit[:2],
        "titled": _titled,
        "correlation": _correlation,
    }
    page.filters |= filters
    styles = _Styles()
    return page.get_template("report.html.jinja").render(
        report=report,
        made=_date(made),
        moment=_moment(report.moment) if report.moment else "",
        alike=alike,
        people={student.person.id: student.person for student in report.students},
        tell_apart=any(one.discrimination.value is not None for unit in report.units for one in unit.exercises),
        enough=MIN_STUDENTS,
        facts=_facts(report),
        ranking=sorted(report.students, key=lambda s: (not s.handed_in, -s.share, s.person.sort_key)),
        chunks=_chunks(report.units),
        examples=[(mistake, *_example(mistake, styles)) for mistake in report.mistakes[:MAX_EXAMPLES]],
        further=list(enumerate(report.mistakes, 1))[MAX_EXAMPLES:],
        revisits=report.revisits[:MAX_REVISITS],
        further_revisits=report.revisits[MAX_REVISITS:],
        histogram=_histogram,
        numbers={mistake.slug: number for number, mistake in enumerate(report.mistakes, 1)},
        cell=_cell,
        middle=middle,
        signs=SIGNS,
        classes=CLASSES,
        colors={"grey": text_color(GREY), "vermillion": text_color(VERMILLION), "line": LINE},
        styles=styles,
    )


def _facts(report: ClassReport) -> list[tuple[str, str]]:
    """The figures at the top of the page, as (what, how many)."""
    some = [student for student in report.students if student.handed_in]
    waiting = sum(unit.waiting for unit in report.units)
    facts = [(_counted("student", len(report.students)), str(len(report.students))), ("handed something in", str(len(some)))]
    if waiting:
        facts.append((f"{_counted('submission', waiting)} not marked yet", str(waiting)))
    if report.shares:
        facts.append(("median share of the points", _percent(middle(report.shares))))
    helped = len(report.needing_help)
    return [*facts, ("needs help" if helped == 1 else "need help", str(helped))] if some else facts


def _counted(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"


def _chunks(units: tuple[UnitReport, ...]) -> list[list[tuple[UnitReport, slice]]]:
    """The units of each table, each with the places of its exercises among all. A unit is never split between tables."""
    chunks: list[list[tuple[UnitReport, slice]]] = []
    ends = [0]
    for unit in units:
        ends.append(ends[-1] + len(unit.exercises))
    for unit, (start, end) in zip(units, pairwise(ends), strict=True):
        if not chunks or end - chunks[-1][0][1].start > MAX_COLUMNS:
            chunks.append([])
        chunks[-1].append((unit, slice(start, end)))
    return chunks


def _histogram(shares: tuple[float, ...]) -> list[dict[str, Any]]:
    """The bins of the distribution of marks: students, their number relative to the fullest bin, and limits in percent."""
    counts = [0] * HISTOGRAM_BINS
    for share in shares:
        counts[max(0, min(HISTOGRAM_BINS - 1, int(share * HISTOGRAM_BINS + 1e-9)))] += 1
    fullest = max(*counts, 1)
    limits = [100 * k // HISTOGRAM_BINS for k in range(HISTOGRAM_BINS + 1)]
    return [
        {"count": count, "height": count / fullest, "start": start, "end": end}
        for count, (start, end) in zip(counts, pairwise(limits), strict=True)
    ]


def _cell(result: Result) -> tuple[str, str]:
    """The CSS class and the text of a cell of the heat map."""
    text = _points(result.points) if result.state in (PARTLY, WRONG) else SIGNS[result.state]
    name = CLASSES[result.state]
    if result.state == PARTLY and result.points < result.max_points / 2:
        name = "little"
    return name, text + ("*" if result.by_hand else "")


def _example(mistake: MistakeReport, styles: _Styles) -> tuple[list[Markup], list[str]]:
    """The fingerprints to show, expected and found, or none if one is unsafe; and the other mistakes in the same loop."""
    tables = [styles.shared(table) for table in mistake.example]
    others = [slug for slug in mistake.example_mistakes if slug != mistake.slug]
    safe = [table for table in tables if table is not None]
    return (safe if len(safe) == len(tables) else []), others


class _Styles:
    """Replaces the inline styles of fingerprints by classes, defined once for the page: a tenth of the bytes."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def shared(self, table: str) -> Markup | None:
        """A fingerprint for this page; None if it is not just a table of numbers, because it could contain a student's text."""
        from markupsafe import Markup

        if not _TABLE.fullmatch(table):
            return None
        for title, new in zip(TITLES, ("Due", "Found"), strict=True):
            table = table.replace(escape(title), new)
        return Markup(_STYLE.sub(lambda match: f'class="{self._name(match[1])}"', table))

    def _name(self, style: str) -> str:
        return self.names.setdefault(style, f"f{len(self.names)}")

    @property
    def rules(self) -> Markup:
        from markupsafe import Markup

        return Markup("\n".join(f".fingerprint .{name}{{{style}}}" for style, name in self.names.items()))


_STYLE = re.compile(r'style="([^"]*)"')
_WORDS = "|".join([*map(re.escape, map(escape, TITLES)), "update", "missing", "before", "no update at all"])
_TEXT = rf"(?:{_WORDS}|epoch \d+|[-−\d/.,e+%×≈·∞ ]|rate|rest|nan|inf)*"
_ATTRIBUTE = r' (?:style="[\w\s:;,.#()%-]*"|(?:scope|colspan|aria-hidden)="\w*")'
_TAG = rf"</?(?:div|table|tbody|tr|th|td)(?:{_ATTRIBUTE})*>"
_TABLE = re.compile(rf"(?:{_TAG}{_TEXT})*")


def _date(time: datetime) -> str:
    return f"{time.day} {time:%B %Y, %H:%M}"


def _moment(time: datetime) -> str:
    """A time in UTC as it is here; midnight is the end of the day before."""
    here = time.replace(tzinfo=UTC).astimezone()
    if f"{here:%H:%M:%S}" == "00:00:00":
        day = here - timedelta(days=1)
        return f"the end of {day.day} {day:%B %Y}"
    return f"{_date(here)} {here:%Z}"


def _points(value: float) -> str:
    return f"{round(value, 1):g}"


def _correlation(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _titled(unit: str) -> str:
    return f"{unit[:2]} · {unit[3:].replace('_', ' ')}"
