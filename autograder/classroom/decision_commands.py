"""The commands of ``gradaccum classroom`` for what instructors decide: deadlines, drops, regrades, whose a file is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Set
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.classroom.command_line import ClassDirectory, Database, complain, locked_class, one_line_on_errors
from autograder.contract.units import UNITS
from autograder.publishing.nbgrader_course import pick_units_of_class
from autograder.support.counted import counted

if TYPE_CHECKING:
    from autograder.classroom.gradebook.lateness import LateWork

app = typer.Typer()

MAKE_AGAIN = "make feedback, report and exports again"

Unit = Annotated[str, typer.Argument(metavar="UNIT", help="A unit, such as 03.")]


@app.command()
def due(
    directory: ClassDirectory,
    unit: Annotated[str, typer.Argument(metavar="UNIT", help="A unit, such as 03; without one, deadlines are shown.")] = "",
    date: Annotated[str, typer.Argument(metavar="DATE", help="Such as '2026-11-30 23:59 Europe/Berlin', or none.")] = "",
    in_time: Annotated[
        bool, typer.Option("--in-time", help="Work that has come in so far was in time, unless something says when it came.")
    ] = False,
    db: Database = "",
) -> None:
    """Say when a unit is due, and show all deadlines. What being late costs changes at once; nothing is marked again."""
    from autograder.classroom.deadlines import DEADLINES, EXAMPLE, read_deadlines, written
    from autograder.classroom.decisions import decide_deadlines, note_in_time
    from autograder.classroom.gradebook.lateness import COSTS_NOTHING
    from autograder.classroom.grading.class_to_mark import ClassToMark

    with one_line_on_errors("due"):
        if in_time and not unit:
            raise ValueError("--in-time needs a unit, such as 03")
        if unit and not (date or in_time):
            raise ValueError(f"no date for {unit}; write it like '{EXAMPLE}', or none")
        marked_class, name = ClassToMark(directory, db), one_unit(unit, directory) if unit else ""
        with marked_class.locked() if unit else contextlib.nullcontext():
            deadlines = read_deadlines(marked_class.coursedir)
            if unit:
                if date:
                    deadlines.due[name] = "" if date == "none" else written(date)
                noted = note_in_time(marked_class, name) if in_time else 0
                late_work = decide_deadlines(marked_class, deadlines)
        if not any(deadlines.due.values()):
            typer.echo(f"no unit has a due date in {directory / DEADLINES.name}")
        for one, text in sorted(deadlines.due.items()):
            typer.echo(f"{one} is due {text}" if text else f"{one} is not due at any time")
        for (student, one), days in sorted(deadlines.extra_days.items()):
            until = f", until {deadlines.until(student, one)}" if deadlines.due.get(one) else ""
            typer.echo(f"{student} has {counted(f'{days:g}', 'more day')} for {one}{until}")
        if unit:
            if in_time:
                typer.echo(f"in time: {counted(noted, 'submission')} without a time")
            if lost := [one.penalty for (_, late_unit), one in late_work.late.items() if late_unit == name]:
                typer.echo(f"late: {counted(len(lost), 'submission')}, {counted(f'{sum(lost):.4g}', 'point')} deducted")
            if any(late_unit == name for _, late_unit in late_work.changed):
                typer.echo(f"points of {name} have changed; {MAKE_AGAIN}")
            _remark_on_lateness("due", late_work, lambda one: one[1] == name)
            if deadlines.due.get(name) and not late_work.costs:
                complain("due", COSTS_NOTHING)


@app.command()
def extend(
    directory: ClassDirectory,
    student: Annotated[str, typer.Argument(metavar="STUDENT", help="A student's id.")],
    unit: Unit,
    days: Annotated[str, typer.Argument(metavar="DAYS", help="Days after the due date; 0 for none.")],
    db: Database = "",
) -> None:
    """Give a student extra time for a unit, whether or not it was handed in. It replaces what the student had before."""
    from autograder.classroom.deadlines import extra_days, read_deadlines
    from autograder.classroom.decisions import decide_deadlines

    with locked_class("extend", directory, db) as marked_class:
        name, number = one_unit(unit, directory), extra_days(days)
        marked_class.refuse_unknown([student])
        deadlines = read_deadlines(marked_class.coursedir)
        deadlines.extra_days[student, name] = number
        late_work = decide_deadlines(marked_class, deadlines)
        if deadlines.due.get(name):
            typer.echo(f"{student} has until {deadlines.until(student, name)} for {name}")
        else:
            more = counted(f"{number:g}", "more day")
            typer.echo(f"{student} has {more} for {name}, once gradaccum classroom due says when it is due")
        if lateness := late_work.late.get((student, name)):
            typer.echo(str(lateness))
        if (student, name) in late_work.changed:
            typer.echo(f"points of {student} have changed; {MAKE_AGAIN}")
        _remark_on_lateness("extend", late_work, lambda one: one == (student, name))


@app.command()
def drop(
    directory: ClassDirectory,
    unit: Annotated[
        str, typer.Argument(metavar="UNIT", help="A unit, such as 03; without one, what is dropped is shown.")
    ] = "",
    exercise: Annotated[str, typer.Argument(metavar="EXERCISE", help="Its name, such as same_update.")] = "",
    reason: Annotated[str, typer.Option("--reason", help="A sentence for students, on their feedback pages.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Have it count again.")] = False,
    db: Database = "",
) -> None:
    """Leave an exercise out of points, tables, feedback, report and exports. Its marks are kept."""
    from autograder.classroom.course import existing_class
    from autograder.classroom.decisions import drop_exercise, restore_exercise
    from autograder.classroom.dropped import reasons_for_dropping

    if not unit:
        with one_line_on_errors("drop"):
            reasons = reasons_for_dropping(existing_class(directory))
        for (name, exercise), why in sorted(reasons.items()):
            typer.echo(f"{exercise} of {name} does not count" + (f": {why}" if why else ""))
        if not reasons:
            typer.echo("all exercises count")
        return
    with locked_class("drop", directory, db) as marked_class:
        name = one_unit(unit, directory)
        if not exercise:
            raise ValueError(f"no exercise of {name} is named; write its name after the unit")
        if undo:
            restore_exercise(marked_class, name, exercise)
        else:
            drop_exercise(marked_class, name, exercise, reason)
    typer.echo(f"{exercise} of {name} {'counts again' if undo else 'does not count'}; {MAKE_AGAIN}")


@app.command()
def regrade(
    directory: ClassDirectory,
    requests: Annotated[
        Path, typer.Argument(metavar="CSV", help="Requests: columns student, unit, exercise, reason, answer, points.")
    ],
    number: Annotated[int, typer.Option("--workers", min=0, help="Processes that mark; one for each core if not given.")] = 0,
    scheduler: Annotated[str, typer.Option(metavar="tcp://…", help="A scheduler of dask that runs, with its workers.")] = "",
    db: Database = "",
) -> None:
    """Answer students' requests to look at an exercise once more: change its points, or mark it again. Feedback tells them."""
    from autograder.classroom.grading.grade_class import grade_class
    from autograder.classroom.regrades import regrade as answer_requests
    from autograder.support.interrupts import stoppable

    with locked_class("regrade", directory, db) as marked_class, stoppable() as stop_if_asked:

        def mark_again(wanted: Set[tuple[str, str]]) -> list[str]:
            handed_in, complaints = marked_class.handed_in([unit for _, unit in wanted], [student for student, _ in wanted])
            chosen = [one for one in handed_in if (one.student, one.unit) in wanted]
            gone = sorted(wanted - {(one.student, one.unit) for one in chosen})
            complaints += [f"{student}, {unit}: is not in {marked_class.submitted}" for student, unit in gone]
            if complaints:
                return complaints
            outcome = grade_class(marked_class, chosen, stop_if_asked, again=True, number=number, scheduler=scheduler)
            return outcome.complaints

        outcome = answer_requests(marked_class, requests, mark_again)
    for one in outcome.answered:
        before = f"{counted(one.before, 'point')} before the request"
        changed = f"{before}, {one.after} now" if one.before != one.after else f"{before} and now"
        typer.echo(f"{one.student}, {one.unit}, {one.exercise}: {changed}")
    counts = f"{len(outcome.answered)} answered, {len(outcome.unchanged)} answered before, {len(outcome.open)} open"
    typer.echo(counts + ("; make feedback and exports again" if outcome.answered else ""))
    for one in outcome.open:
        complain("regrade", f"{one.student}, {one.unit}, {one.exercise}: has neither answer nor points, so it stays open")


def one_unit(text: str, directory: Path) -> str:
    """The unit that a text such as ``"03"`` names.

    Raises:
        ValueError: it names none, several, or one that the class in ``directory`` does not have.
    """
    named = pick_units_of_class(directory, [text])
    if len(named) != 1:
        raise ValueError(f"{text!r} names {len(named)} units; name one, such as {UNITS[0][:2]}")
    return named[0]


def _remark_on_lateness(command: str, late_work: LateWork, wanted: Callable[[tuple[str, str]], bool]) -> None:
    """Print what is wrong in the table of deadlines, and what to know about the points of submissions that are wanted."""
    for line in (*late_work.complaints, *late_work.remarks(wanted)):
        complain(command, line)
