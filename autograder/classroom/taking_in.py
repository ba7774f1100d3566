"""What ``gradaccum classroom grade`` does before it marks: takes in what it was given, and prints what became of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from autograder.support.counted import counted
from autograder.support.one_line import one_line

if TYPE_CHECKING:
    from autograder.classroom.grading.class_to_mark import ClassToMark


def taken_in(
    marked_class: ClassToMark, sources: list[Path], worksheet: Path | None, units: list[str], db: str
) -> tuple[list[str], list[str]]:
    """Take in what was handed in, with Moodle's worksheet, and print what happened.

    Returns:
        A line for each file that a person has to look at; and what else there is to say.
    """
    from autograder.classroom.intake.grading_worksheets import note_times, take_worksheet

    directory, course = marked_class.directory, marked_class.coursedir
    if worksheet and len(units) != 1:
        raise ValueError("a worksheet is that of one unit; say of which, such as --units 03")
    sheet = take_worksheet(course, units[0], worksheet) if worksheet else None
    not_taken = [line for source in sources for line in _collect(directory, source, units, db)]
    if not sheet:
        return not_taken, []
    whose = f"{sheet.added} added to file_owners.csv, {sheet.known} there already"
    if sheet.times is None:
        typer.echo(f"{worksheet}: {whose}; no times noted, since {units[0]} has no due date")
        return not_taken, [*sheet.strangers]
    noted = note_times(course, units[0], sheet.times)
    typer.echo(f"{worksheet}: {whose}; {counted(noted.written, 'time')} noted, {noted.known} there already")
    return not_taken, [*sheet.strangers, *noted.complaints]


def _collect(directory: Path, source: Path, units: list[str], db: str) -> list[str]:
    """Take submissions into a class and print what happened. Returns a line for each file that a person has to look at."""
    from autograder.classroom.intake.collect_submissions import collect
    from autograder.classroom.intake.submitted_store import REPLACES

    intake = collect(directory, source, units[0] if len(units) == 1 else None, db)
    typer.echo(f"{source}: {intake.summary}")
    for file in intake.older:
        typer.echo(f"  {file}")
    replaced = sorted({student for file in intake.taken if file.reason == REPLACES for student in file.students})
    if replaced:
        typer.echo(one_line(f"  in place of what was there before, which is kept: {', '.join(replaced)}"))
    others = sorted({file.unit for file in intake.taken if len(units) == 1 and file.unit != units[0]})
    for unit in others:
        students = sorted({student for file in intake.taken if file.unit == unit for student in file.students})
        # What an LMS says about lateness is about the assignment that was downloaded, and not about what strayed into it.
        whole = f" --from {source}" if all(file.unit == unit for file in (*intake.taken, *intake.unchanged)) else ""
        what = f"{counted(len(students), 'submission')} of {unit} taken, not of {units[0]}"
        typer.echo(one_line(f"  {what}; to have this marked, give grade --units {unit[:2]}{whole}: {', '.join(students)}"))
    if intake.new_students:
        typer.echo(one_line(f"  new in this class, by names of folders and files: {', '.join(intake.new_students)}"))
    return [f"{source}: {file}" for file in intake.unrecognised]
