"""Exercises that no longer count in a class. Their marks are kept, and everything that adds points up leaves them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.classroom.csv_tables import ClassTable, TableError, full_unit, unknown_units

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

DROPPED = ClassTable("dropped.csv", ("unit", "exercise", "reason"))


def dropped_exercises(course: CourseDirectory) -> frozenset[tuple[str, str]]:
    """(unit, exercise) of every exercise that does not count in this class.

    Raises:
        TableError: the table of dropped exercises cannot be used.
        OSError: it cannot be read.
    """
    return frozenset(reasons_for_dropping(course))


def reasons_for_dropping(course: CourseDirectory) -> dict[tuple[str, str], str]:
    """Why each dropped exercise does not count, by (unit, exercise); empty where no reason was given.

    Raises:
        TableError: the table of dropped exercises cannot be used.
        OSError: it cannot be read.
    """
    rows = DROPPED.rows(course)
    if problems := unknown_units(rows):
        raise TableError("\n".join(problems))
    return {(full_unit(row["unit"]), row["exercise"]): row["reason"] for row in rows}


def write_dropped(course: CourseDirectory, reasons: dict[tuple[str, str], str]) -> None:
    """Replace the table of dropped exercises.

    Raises:
        OSError: it cannot be written; what was there before is still there.
    """
    DROPPED.write(course, ({"unit": unit, "exercise": name, "reason": why} for (unit, name), why in sorted(reasons.items())))
