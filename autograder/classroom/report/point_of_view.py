"""A class as it was at a moment, and only some of its units."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from autograder.classroom.deadlines import moment
from autograder.classroom.report.class_data import ClassData


def end_of(text: str) -> datetime:
    """The moment that a date means, in UTC and without a time zone; a date without a time is the end of that day here.

    Raises:
        ValueError: it is no date. One line: what to write.
    """
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text.strip()):
        try:
            time = (datetime.fromisoformat(text.strip()) + timedelta(days=1)).astimezone()
        except ValueError:
            raise ValueError(f"{text!r} is no date; write it like 2026-11-30") from None
    else:
        time = moment(text)
    return time.astimezone(UTC).replace(tzinfo=None)


def as_of(data: ClassData, time: datetime) -> ClassData:
    """The class without what was handed in after a time (in UTC), and with the units that were due by then.

    What was handed in by then and replaced later counts as not marked: its marks are no longer known. What was handed in at a
    time that is not known counts.
    """
    later = {one for one, when in data.times.items() if when > time}
    there_before = {one for one in later if (first := data.first_times.get(one)) and first <= time}
    return replace(
        data,
        marks=tuple(one for one in data.marks if (one.student, one.unit) not in later),
        handed_in=frozenset(data.handed_in - later | there_before),
        grades={
            (student, unit, cell): one for (student, unit, cell), one in data.grades.items() if (student, unit) not in later
        },
        penalties={key: points for key, points in data.penalties.items() if key not in later},
        moment=time,
    )


def only_units(data: ClassData, units: Collection[str]) -> ClassData:
    """The class with these units alone."""
    return replace(
        data,
        marks=tuple(one for one in data.marks if one.unit in units),
        handed_in=frozenset(one for one in data.handed_in if one[1] in units),
        cells={unit: cells for unit, cells in data.cells.items() if unit in units},
        grades={key: grade for key, grade in data.grades.items() if key[1] in units},
        penalties={key: points for key, points in data.penalties.items() if key[1] in units},
    )
