"""A class with a gradebook to export, and functions that export it and read the files."""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.classroom.gradebook.nbgrader_converters import commands_of_this_python
from autograder.publishing.nbgrader_course import make_course

ACCUMULATE, LOOP = "03_accumulate", "04_training_loop"
FORMULA = '=cmd|"/C calc"!A1'
STUDENTS = {
    "ada": {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@x.edu", "lms_user_id": "9001"},
    "bob": {"first_name": "Zoë", "last_name": "O'Brien, jr", "email": "Bob@x.edu", "lms_user_id": "12ab"},
    "eve": {"first_name": FORMULA, "last_name": "", "email": "eve@x.edu"},
    "kim": {},
}
HANDED_IN = datetime(2026, 11, 3, 12, 30)
CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Notes,Unit 04: Training loop (4711),03_accumulate (4712),Final Score\n"
    ",,,,,,Manual Posting,,\n"
    "    Points Possible,,,,,,10,20,(read only)\n"
    '"O\'Brien, Zoë",77,S77,bob@X.edu,"A, B","+1 note",N/A,4,40\n'
    '"Kim, K",78,KIM,k1@x.edu,A,,9,EX,90\n'
    '"Ada, L",9001,S1,lovelace,A,,,,\n'
    '"=Eve",79,,eve,A,,1,2,3\n'
    '"Doe, Jo",80,S80,jo,A,,7,7,70\n'
    '"Student, Test",81,,81c2,A,,,,\n'
)
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,"
    "Grade can be changed,Last modified (grade),Feedback comments\n"
    'Participant 31,Ada Lovelace,ADA@x.edu,"Submitted for grading - ",,100.00,Yes,-,"<p>two\nlines</p>"\n'
    "Participant 32,+Zoë,bob@x.edu,No submission,12.00,100.00,Yes,-,-\n"
    "Participant 33,Kim,kim,No submission,3.00,100.00,Yes,-,\n"
)


def _hand_in(
    gradebook: Gradebook, unit: str, student: str, auto: float | None, manual: float | None = None, penalty: float = 0
):
    submission = gradebook.add_submission(unit, student, timestamp=HANDED_IN)
    gradebook.find_submission_notebook(unit, unit, student).late_submission_penalty = penalty or None
    for grade in submission.notebooks[0].grades:
        code = grade.cell.cell_type == "code"
        grade.auto_score, grade.manual_score = (auto, None) if code else (None, manual)
        grade.needs_manual_grade = not code and manual is None
    gradebook.db.commit()


def make_school(directory: Path) -> Path:
    """A class whose gradebook has submissions that are late, graded by hand, waiting for that, missing, or without points."""
    make_course(directory, {})
    with commands_of_this_python(), Gradebook(f"sqlite:///{directory}/gradebook.db", "gradaccum") as gradebook:
        for unit in (ACCUMULATE, LOOP):
            gradebook.add_assignment(unit, duedate=datetime(2026, 11, 1))
            gradebook.add_notebook(unit, unit)
            gradebook.add_grade_cell("code", unit, unit, max_score=8, cell_type="code")
        gradebook.add_grade_cell("prose", LOOP, LOOP, max_score=2, cell_type="markdown")
        for student, facts in STUDENTS.items():
            gradebook.add_student(student, **facts)
        _hand_in(gradebook, ACCUMULATE, "ada", 8)
        _hand_in(gradebook, ACCUMULATE, "bob", 1, penalty=3)
        _hand_in(gradebook, ACCUMULATE, "eve", 0)
        _hand_in(gradebook, LOOP, "ada", 7 + 1 / 3, manual=1.5, penalty=0.5)
        _hand_in(gradebook, LOOP, "bob", 5)
    return directory


def export(directory: Path, place: Path, *options: object, to: str = "out.csv"):
    """Run the command. Returns its exit status, the rows of its file in ``place`` by column, and its notes."""
    result = CliRunner().invoke(app, ["export", str(directory), "--to", to, "--overwrite", *map(str, options)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    rows = rows_of(place / to) if result.exit_code == 0 and "blackboard" not in options else []
    return result.exit_code, rows, result.stderr.replace("gradaccum classroom export: ", "").splitlines()


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def by(rows: list[dict[str, str]], key: str, *columns: str) -> dict[str, tuple[str, ...]]:
    return {row[key]: tuple(row[column] for column in columns) for row in rows}
