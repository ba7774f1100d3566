"""When units are due in a class, and which students have extra time: a table that people can read and correct."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from math import isfinite
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from autograder.classroom.csv_tables import ClassTable, TableError, full_unit, unknown_units

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

DEADLINES = ClassTable("deadlines.csv", ("unit", "student", "due", "extra_days"))
"""A row without a student says when a unit is due, a row with one how many days this student has in addition."""

EXAMPLE = "2026-11-30 23:59 Europe/Berlin"
MAX_EXTRA_DAYS = 3650

_DATE = re.compile(r"(?P<time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?) ?(?P<zone>\S+)?")
_OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)")


@dataclass
class Deadlines:
    """The deadlines of a class.

    Attributes:
        due: when a unit is due, as it was written, by unit; empty for one that is no longer due at any time.
        extra_days: by (student, unit); 0 for a student who no longer has any.
    """

    due: dict[str, str] = field(default_factory=dict)
    extra_days: dict[tuple[str, str], float] = field(default_factory=dict)

    def due_in_utc(self, unit: str) -> datetime | None:
        """When a unit is due, in UTC and without a time zone, as nbgrader keeps it; None if it is due at no time."""
        return moment(self.due[unit]).astimezone(UTC).replace(tzinfo=None) if self.due.get(unit) else None

    def extra_time(self, student: str, unit: str) -> timedelta | None:
        days = self.extra_days.get((student, unit))
        return timedelta(days=days) if days else None

    def until(self, student: str, unit: str) -> str:
        """Until when a student may hand in a unit that is due at some time, in the time zone of its due date."""
        time, zone = moment(self.due[unit]), self.due[unit].rpartition(" ")[2]
        if extra := self.extra_time(student, unit):
            time = (time.astimezone(UTC) + extra).astimezone(time.tzinfo)
        return f"{time:%Y-%m-%d %H:%M} {zone}"


def read_deadlines(course: CourseDirectory) -> Deadlines:
    """The deadlines of a class.

    Raises:
        TableError: the table cannot be used; each bad cell is named.
        OSError: it cannot be read.
    """
    deadlines, rows = Deadlines(), DEADLINES.rows(course)
    problems = unknown_units(rows)
    for row in rows:
        unit, student = full_unit(row["unit"]), row["student"]
        try:
            if student:
                deadlines.extra_days[student, unit] = extra_days(row["extra_days"])
            else:
                deadlines.due[unit] = written(row["due"])
        except ValueError as error:
            problems.append(row.problem("extra_days" if student else "due", str(error)))
    if problems:
        raise TableError("\n".join(problems))
    return deadlines


def write_deadlines(course: CourseDirectory, deadlines: Deadlines) -> None:
    """Replace the table of deadlines.

    Raises:
        OSError: it cannot be written; what was there before is still there.
    """
    due = [(unit, "", text, "") for unit, text in deadlines.due.items() if text]
    extra = [(unit, student, "", f"{days:g}") for (student, unit), days in deadlines.extra_days.items() if days]
    DEADLINES.write(course, (dict(zip(DEADLINES.columns, row, strict=True)) for row in sorted([*due, *extra])))


def written(text: str) -> str:
    """A date as it is kept and shown: ``2026-11-30 23:59 Europe/Berlin``.

    Raises:
        ValueError: it is no date, or has no time or time zone. One line: what to write.
    """
    time = moment(text)
    zone = _DATE.fullmatch(text.strip())["zone"]  # type: ignore[index] # moment has matched it
    return f"{time:%Y-%m-%d %H:%M} {zone}"


def moment(text: str) -> datetime:
    """A date with its time zone.

    Raises:
        ValueError: it is no date, or has no time or time zone. One line: what to write.
    """
    match = _DATE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is no date with a time; write it like {EXAMPLE}")
    if not match["zone"]:
        raise ValueError(f"{text!r} does not say in which time zone; write it like {EXAMPLE}")
    try:
        return datetime.fromisoformat(match["time"]).replace(tzinfo=_zone(match["zone"]))
    except (ValueError, OSError, KeyError) as error:  # no such day, no such zone
        raise ValueError(f"{text!r} is no date ({' '.join(map(str, error.args))}); write it like {EXAMPLE}") from None


def stamped(text: str) -> datetime:
    """The time in a ``timestamp.txt``, as nbgrader or a person writes it, in UTC and without a time zone.

    It is read as strictly as a due date: nbgrader's own reading takes 07.11.2026 for the 11th of July.

    Raises:
        ValueError: it is no date, or has no time or time zone. One line: what to write.
    """
    return moment(text).astimezone(UTC).replace(tzinfo=None)


def _zone(name: str) -> ZoneInfo | timezone:
    if match := _OFFSET.fullmatch(name):
        offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"]))
        return timezone(-offset if match["sign"] == "-" else offset)
    return ZoneInfo("UTC" if name == "Z" else name)


def extra_days(text: str) -> float:
    """A number of days, 0 for none.

    Raises:
        ValueError: it is no such number.
    """
    try:
        days = float(text.replace(",", "."))
    except ValueError:
        days = -1.0
    if not (isfinite(days) and 0 <= days <= MAX_EXTRA_DAYS):
        raise ValueError(f"{text!r} is no number of days from 0 to {MAX_EXTRA_DAYS}")
    return days
