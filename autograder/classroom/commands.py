"""The commands of ``gradaccum classroom``. A class is an nbgrader course directory with the units of the course."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from autograder.classroom.command_line import (
    ClassDirectory,
    Database,
    Overwrite,
    Students,
    Units,
    complain,
    locked_class,
    one_line_on_errors,
    seen_from_here,
)
from autograder.classroom.decision_commands import app as decisions
from autograder.classroom.hub_command import hub
from autograder.classroom.taking_in import taken_in
from autograder.contract.devices import DEVICES
from autograder.isolation.sandbox import SANDBOXES
from autograder.publishing.nbgrader_course import (
    SOLUTIONS,
    course_directory,
    make_course,
    pick_units,
    pick_units_of_class,
    units_of_class,
)
from autograder.support.counted import counted
from autograder.support.names import names_in

app = typer.Typer(help="Hand out, mark and report a class with nbgrader.", no_args_is_help=True, add_completion=False)
app.command()(hub)


@app.command()
def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty directory, or a class to complete.")],
    units: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="Units, such as 03,04; if not given, those that are there, or all in a new class."),
    ] = None,
    roster: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Students: columns id, first_name, last_name, email, or as an LMS exports them."),
    ] = None,
    db: Database = "",
) -> None:
    """Make an nbgrader course directory, or complete one: source notebooks, configuration and, if given, the students."""
    from autograder.classroom.gradebook.enrolment import Enrolment, enrol
    from autograder.classroom.gradebook.roster import Roster, read_roster
    from autograder.hosts.provisioner import install_kernelspec
    from autograder.publishing.solution_script import unit_scripts

    with one_line_on_errors("init"):
        read = read_roster(roster) if roster else Roster(())
        scripts = pick_units(unit_scripts(SOLUTIONS), units or units_of_class(directory))
        with _emptied_on_errors(directory):
            added = make_course(directory, scripts, db)
            install_kernelspec()
            course = course_directory(directory)
            enrolment = enrol(read.students, course.db_url) if read.students else Enrolment()
    kept = [unit for unit in scripts if unit not in added] if units else []
    first = read.students and not enrolment.before
    typer.echo(
        f"{directory}: a class with {', '.join(units_of_class(directory))}"
        + (f" and {counted(len(read.students), 'student')}" if first else "")
    )
    if kept:
        typer.echo(f"already there and left as they were: {', '.join(kept)}")
    if enrolment.before:
        typer.echo(f"students of {roster}: {enrolment}")
    for line in read.left_out:
        complain("init", line)
    unreleased = [unit for unit in scripts if not Path(course.format_path(course.release_directory, ".", unit)).is_dir()]
    if unreleased:
        typer.echo(f"next: gradaccum classroom release {directory} --units {unreleased[0][:2]}")
    else:
        typer.echo(f"next, once something is handed in: gradaccum classroom grade {directory} --from PATH")


@app.command()
def release(directory: ClassDirectory, units: Units = None, db: Database = "") -> None:
    """Make what students get, in release/, from source/. Releasing again brings both up to date."""
    from autograder.classroom.grading.class_to_mark import ClassToMark
    from autograder.classroom.release import release_unit

    with one_line_on_errors("release"):
        coursedir = ClassToMark(directory, db).coursedir
        sources = {path.name: path for path in sorted((directory / "source").glob("*")) if path.is_dir()}
        for unit in pick_units(sources, units):
            typer.echo(seen_from_here(release_unit(coursedir, unit), directory))


@app.command()
def grade(
    directory: ClassDirectory,
    units: Units = None,
    students: Students = None,
    again: Annotated[bool, typer.Option("--again", help="Mark also what has not changed since it was marked.")] = False,
    number: Annotated[int, typer.Option("--workers", min=0, help="Processes that mark; one for each core if not given.")] = 0,
    scheduler: Annotated[str, typer.Option(metavar="tcp://…", help="A scheduler of dask that runs, with its workers.")] = "",
    device: Annotated[str, typer.Option(metavar="|".join(DEVICES), help="What to mark on; as configured if not given.")] = "",
    sandbox: Annotated[str, typer.Option(metavar="|".join(SANDBOXES), help="As configured if not given; none trusts.")] = "",
    sources: Annotated[
        list[Path] | None,
        typer.Option(
            "--from", metavar="PATH", help="Take in what is in this folder or zip first, or in several; see docs/intake.md."
        ),
    ] = None,
    worksheet: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Moodle's grading worksheet of one unit: whose files are whose, and when they came."),
    ] = None,
    db: Database = "",
) -> None:
    """Mark what was handed in and has changed, into the gradebook. Stop it whenever you like: started again, it goes on."""
    from autograder.classroom.gradebook.lateness import COSTS_NOTHING
    from autograder.classroom.grading.class_to_mark import ClassToMark
    from autograder.classroom.grading.grade_class import grade_class, points_now
    from autograder.classroom.grading.terminal_output import print_summary
    from autograder.support.interrupts import stoppable

    if again:
        on_ctrl_c = "with --again it begins from the start; without --again it marks only what is new"
    else:
        on_ctrl_c = "start it again and it goes on"
    with one_line_on_errors("grade", on_ctrl_c), stoppable() as stop_if_asked:
        marked_class = ClassToMark(directory, db, device, sandbox)
        wanted = pick_units_of_class(directory, units)
        with marked_class.locked():
            not_taken, remarks = taken_in(marked_class, sources or [], worksheet, wanted, db)
            marked_class.refuse_unknown(names_in(students))
            handed_in, complaints = marked_class.handed_in(wanted, names_in(students))
            outcome = grade_class(marked_class, handed_in, stop_if_asked, again=again, number=number, scheduler=scheduler)
            points, late_work, trouble = points_now(marked_class)
            stop_if_asked()
    print_summary(outcome, points)
    for complaint in (complaints := not_taken + complaints + outcome.complaints + trouble):
        complain("grade", complaint)
    marked, unchanged = ({(one.student, one.unit) for one in ones} for ones in (outcome.marked, outcome.unchanged))
    remarks += late_work.remarks((marked | unchanged).__contains__, untimed_wanted=marked.__contains__)
    remarks += marked_class.without_submission(wanted, names_in(students))
    remarks += points.still_by_hand(marked.__contains__) if points else []
    remarks += [COSTS_NOTHING] if not late_work.costs and marked & late_work.late.keys() else []
    for remark in remarks:
        complain("grade", remark)
    if complaints:
        raise typer.Exit(3 if outcome.unmarked else 1)


@app.command()
def feedback(
    directory: ClassDirectory,
    units: Units = None,
    students: Students = None,
    sources: Annotated[
        list[Path] | None,
        typer.Option("--from", metavar="PATH", help="What was graded: pages are packed for the LMS it came from."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option(metavar="ZIP", help="What they are packed into, if not feedback.zip there.")
    ] = None,
    overwrite: Overwrite = False,
    db: Database = "",
) -> None:
    """Make a page for each student, their notebook with a verdict under each exercise; pack them to be uploaded."""
    from autograder.classroom.grading.class_to_mark import ClassToMark
    from autograder.classroom.grading.terminal_output import progress
    from autograder.classroom.new_files import refuse_to_replace
    from autograder.classroom.returning.feedback import make_pages, pack

    with one_line_on_errors("feedback"):
        if to and not sources:
            raise ValueError("--to names a zip for an LMS; give what the LMS made with --from, or leave --to out")
        archive = to or directory / "feedback.zip"
        if len(sources or []) > 1:
            raise ValueError("a zip goes back to one assignment; give one --from at a time, each with a zip of its own (--to)")
        source = sources[0] if sources else None
        refuse_to_replace([archive] if source else [], overwrite)
        marked_class = ClassToMark(directory, db)
        wanted = pick_units_of_class(directory, units)
        with marked_class.locked():
            marked_class.refuse_unknown(names_in(students))
            made = make_pages(marked_class, wanted, names_in(students), source, progress)
        packed = source and made.pages and pack(made, archive)
    for line in (*made.complaints, *made.remarks):
        complain("feedback", line)
    folder = marked_class.coursedir.feedback_directory
    typer.echo(
        f"{counted(len(made.pages), 'page')} in {directory / folder}" + (f", and in {packed} to be uploaded" if packed else "")
    )
    if made.complaints:
        raise typer.Exit(1)


@app.command()
def export(
    directory: ClassDirectory,
    to_format: Annotated[
        str, typer.Option("--format", metavar="nbgrader|canvas|moodle|blackboard", help="Who is to read it.")
    ] = "nbgrader",
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="By default a file of the class, such as grades.csv or canvas.csv.")
    ] = None,
    units: Units = None,
    into: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A gradebook that the LMS exported, to be filled in.")
    ] = None,
    missing_as_zero: Annotated[
        bool, typer.Option("--missing-as-zero", help="A unit that was due and not handed in counts as 0.")
    ] = False,
    overwrite: Overwrite = False,
    db: Database = "",
) -> None:
    """Write marks into a file that nbgrader's users, Canvas or Moodle import."""
    from autograder.classroom.returning.export_class import export_class

    with one_line_on_errors("export"):
        file, notes = export_class(
            directory,
            to_format,
            to=to,
            units=units,
            into=into,
            missing_as_zero=missing_as_zero,
            overwrite=overwrite,
            db_url=db,
        )
    for note in notes:
        complain("export", note)
    typer.echo(f"marks written to {file}")


@app.command()
def report(
    directory: ClassDirectory,
    to: Annotated[
        Path | None, typer.Option(metavar="HTML", help="Where to write the page, if not to report.html of the class.")
    ] = None,
    units: Units = None,
    time: Annotated[
        str, typer.Option("--as-of", metavar="DATE", help="Leave out what was handed in, or was due, after this date.")
    ] = "",
    alike: Annotated[bool, typer.Option("--alike", help="Name students whose answers are alike; see docs/report.md.")] = False,
    overwrite: Overwrite = False,
    db: Database = "",
) -> None:
    """Write a page on what the class can do and what it misunderstood, and its marks as CSV beside it."""
    from datetime import datetime

    from autograder.classroom.grading.marks_store import MarksStore
    from autograder.classroom.new_files import refuse_to_replace
    from autograder.classroom.report.alike import alike_report
    from autograder.classroom.report.class_data import read_class
    from autograder.classroom.report.class_report import class_report
    from autograder.classroom.report.page import page_path, table_path, write_report
    from autograder.classroom.report.point_of_view import as_of, end_of, only_units

    with one_line_on_errors("report"):
        page = page_path(directory, to)
        refuse_to_replace([page, table_path(page)], overwrite)
        wanted, moment = pick_units_of_class(directory, units), end_of(time) if time else None
        data = only_units(read_class(directory, db), wanted)
        data = as_of(data, moment) if moment else data
        made = class_report(data)
        marked = {(one.student, one.unit) for one in data.marks}
        written = write_report(made, page, datetime.now(), alike_report(MarksStore(directory), marked) if alike else None)
    for warning in made.warnings:
        complain("report", f"warning: {warning}")
    typer.echo(f"{counted(len(made.students), 'student')}, {counted(len(made.units), 'unit')}: {written[0]}, {written[1]}")


@app.command()
def forget(
    directory: ClassDirectory,
    student: Annotated[str, typer.Argument(metavar="STUDENT", help="The id of a student who has left.")],
    units: Annotated[
        list[str] | None, typer.Option(metavar="LIST", help="Only what is of these units; the student stays in the class.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    db: Database = "",
) -> None:
    """Delete everything about a student, or about a unit of one: what was handed in, marks, feedback, the gradebook's entry."""
    from autograder.classroom.forget import forget as delete
    from autograder.classroom.forget import kept_of

    with locked_class("forget", directory, db) as marked_class:
        marked_class.refuse_unknown([student])
        kept = kept_of(marked_class, student, pick_units_of_class(directory, units) if units else ())
        places = [str(seen_from_here(path, directory)) for path in kept.places]
        places += [f"rows of {seen_from_here(path, directory)}" for path in kept.tables]
        if kept.units is None:
            places += ["their entry in the gradebook"] if kept.student else []
        else:
            places += [f"the marks of {unit} in the gradebook" for unit in kept.units]
        typer.echo("\n  ".join([student, *(places or ["nothing"])]))
        if not yes and not typer.confirm("Delete all of this for good?"):
            typer.echo("nothing was deleted")
            raise typer.Exit(1)
        mentions = delete(marked_class, student, kept)
    typer.echo(f"deleted: {student}")
    for path in mentions:
        complain("forget", f"{path} still names {student}; make it again, or delete it")


@contextlib.contextmanager
def _emptied_on_errors(directory: Path) -> Iterator[None]:
    """Leave a directory that was empty, or not there, as it was if the block fails or is interrupted."""
    was_there = directory.is_dir()
    was_empty = not directory.exists() or (was_there and not any(directory.iterdir()))
    try:
        yield
    except BaseException:
        if was_empty and directory.is_dir():
            shutil.rmtree(directory, ignore_errors=True)
            if was_there:
                directory.mkdir(exist_ok=True)
        raise


app.add_typer(decisions)
