"""Marks leave a class in files that nbgrader's users, Canvas and Moodle read, and nothing else in those files changes."""

from __future__ import annotations

import csv
import shutil
import sqlite3
from datetime import datetime
from pathlib import Path

import pytest
from documents import shell_lines
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderApp
from nbgrader.plugins import CsvExportPlugin
from traitlets.config import Config
from typer.testing import CliRunner

from autograder.classroom.class_marks import Enrolled
from autograder.classroom.commands import app
from autograder.classroom.course import make_course
from autograder.classroom.exports import CanvasExporter, NbgraderExporter
from autograder.classroom.lms_sheets import Sheet, harmless_cell, match_rows, points_text
from autograder.classroom.roster import commands_of_this_python

ACCUMULATE, LOOP = "03_accumulate", "04_training_loop"
FORMULA = '=cmd|"/C calc"!A1'
STUDENTS = {
    "ada": {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@x.edu", "lms_user_id": "9001"},
    "bob": {"first_name": "Zoë", "last_name": "O'Brien, jr", "email": "Bob@x.edu", "lms_user_id": "12ab"},
    "eve": {"first_name": FORMULA, "last_name": "", "email": "eve@x.edu"},
    "kim": {},
}
HANDED_IN = datetime(2026, 11, 3, 12, 30)


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


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    """A class with a gradebook: late, graded by hand, waiting for that, not handed in, nothing earned."""
    directory = tmp_path_factory.mktemp("school") / "class"
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


@pytest.fixture
def export(school, tmp_path, monkeypatch):
    """Run the command in an empty directory; its exit status, the rows of its file by column, and its notes."""
    monkeypatch.chdir(tmp_path)

    def export(*options: object, directory: Path = school, to: str = "out.csv"):
        result = CliRunner().invoke(app, ["export", str(directory), "--to", to, *map(str, options)])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        rows = _rows(tmp_path / to) if result.exit_code == 0 else []
        return result.exit_code, rows, result.stderr.replace("gradaccum classroom export: ", "").splitlines()

    return export


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def _by(rows: list[dict[str, str]], key: str, *columns: str) -> dict[str, tuple[str, ...]]:
    return {row[key]: tuple(row[column] for column in columns) for row in rows}


def test_nbgraders_csv_has_what_nbgraders_own_exporter_writes(school, tmp_path):
    files = tmp_path / "theirs.csv", tmp_path / "ours.csv"
    with Gradebook(f"sqlite:///{school}/gradebook.db", "gradaccum") as gradebook:
        for plugin, file in zip((CsvExportPlugin, NbgraderExporter), files, strict=True):
            plugin(to=str(file), student=["ada", "kim"]).export(gradebook)
    assert _rows(files[0]) == _rows(files[1])
    assert len(_rows(files[0])) == 4


def test_a_comma_in_a_name_moves_no_marks_in_nbgraders_csv(export):
    _, rows, _ = export("--format", "nbgrader")
    bob = [row for row in rows if row["student_id"] == "bob"]
    assert [(row["last_name"], row["first_name"]) for row in bob] == [("O'Brien, jr", "Zoë")] * 2
    assert [(row["raw_score"], row["late_submission_penalty"], row["score"]) for row in bob] == [
        ("1.0", "3.0", "0.0"),
        ("5.0", "0.0", "5.0"),
    ]


def test_a_fresh_canvas_file_has_the_columns_canvas_reads(export):
    _, rows, _ = export("--format", "canvas")
    assert list(rows[0]) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", ACCUMULATE, LOOP]
    assert tuple(rows[0].values()) == ("    Points Possible", "", "", "", "", "8", "10")
    assert _by(rows[1:], "SIS Login ID", "Student", "ID") == {
        "ada": ("Lovelace, Ada", "9001"),
        "bob": ("O'Brien, jr, Zoë", ""),
        "eve": (f"'{FORMULA}", ""),
        "kim": ("kim", ""),
    }


POINTS = {"ada": ("8", "8.33333"), "bob": ("0", "5"), "eve": ("0", ""), "kim": ("", "")}


def test_penalties_count_as_in_nbgrader_and_what_is_missing_stays_empty(export):
    canvas, moodle = export("--format", "canvas")[1], export("--format", "moodle")[1]
    assert _by(canvas[1:], "SIS Login ID", ACCUMULATE, LOOP) == POINTS
    assert _by(moodle, "Username", f"Assignment: {ACCUMULATE} (Real)", f"Assignment: {LOOP} (Real)") == POINTS


def test_what_is_missing_counts_as_zero_if_so_wished(export):
    _, rows, _ = export("--format", "canvas", "--missing-as-zero")
    assert _by(rows[1:], "SIS Login ID", ACCUMULATE, LOOP)["kim"] == ("0", "0")


def test_units_can_be_picked(export):
    _, rows, _ = export("--format", "canvas", "--units", "04")
    assert list(rows[0])[5:] == [LOOP]


def test_answers_that_nobody_has_graded_are_named(export):
    assert export("--format", "canvas")[2] == [f"{LOOP} has answers that nobody has graded yet: bob"]
    assert export("--format", "canvas", "--units", "03")[2] == []


def test_a_student_without_email_is_named_because_moodle_would_take_the_line_above(export):
    _, rows, notes = export("--format", "moodle", "--units", "03")
    assert list(rows[0])[:4] == ["First name", "Last name", "Username", "Email address"]
    assert notes[0].startswith("no email address, ")
    assert notes[0].endswith(": kim")


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


def test_an_exported_canvas_gradebook_is_filled_in_and_everything_else_kept(export, tmp_path):
    (tmp_path / "exported.csv").write_text(CANVAS, encoding="utf-8")
    code, rows, notes = export("--format", "canvas", "--into", "exported.csv")
    assert code == 0
    loop, accumulate = "Unit 04: Training loop (4711)", "03_accumulate (4712)"
    expected = _rows(tmp_path / "exported.csv")
    expected[2] |= {accumulate: "0"}
    expected[4] |= {loop: "8.33333", accumulate: "8"}
    expected[5] |= {"Student": "'=Eve", accumulate: "0"}
    assert rows == expected
    assert (tmp_path / "out.csv").read_bytes().startswith(b"\xef\xbb\xbfStudent,ID,")
    assert notes[1:] == [
        f"{ACCUMULATE} has 20 points there and 8 here",
        f"excused or not assigned there, so left as it was: {LOOP} of bob (N/A), {ACCUMULATE} of kim (EX)",
        "in exported.csv, but not in the class: Doe, Jo jo S80 80",
    ]


def test_semicolons_stay_and_points_keep_their_decimal_point(export, tmp_path):
    exported = "Student;ID;SIS Login ID;Section;03_accumulate (1);04_training_loop (2)\n    Points Possible;;;;8,00;10,00\n"
    (tmp_path / "exported.csv").write_text(f"{exported}Ada;9001;ada;A;;8,2\n")
    assert export("--format", "canvas", "--into", "exported.csv")[0] == 0
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[1:] == ["    Points Possible;;;;8,00;10,00", "Ada;9001;ada;A;8;8.33333"]


def test_students_whose_marks_find_no_line_are_named(export, tmp_path):
    (tmp_path / "exported.csv").write_text(f"Student,ID,SIS Login ID,Section,{ACCUMULATE} (1)\nAda,1,ada,A,\n")
    _, rows, notes = export("--format", "canvas", "--into", "exported.csv", "--units", "03")
    assert _by(rows, "SIS Login ID", f"{ACCUMULATE} (1)") == {"ada": ("8",)}
    assert notes == ["not in exported.csv, so their marks are not in it: bob, eve, kim"]


def test_a_unit_that_canvas_does_not_know_gets_a_column_and_a_note(export, tmp_path):
    (tmp_path / "exported.csv").write_text("Student,ID,SIS Login ID,Section\n    Points Possible,,,\nAda,1,ada,A\n")
    _, rows, notes = export("--format", "canvas", "--into", "exported.csv", "--units", "03")
    assert [row[ACCUMULATE] for row in rows] == ["8", "8"]
    assert notes[0] == f"no assignment there is called {ACCUMULATE}; Canvas will ask what to do with the new column"


WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,"
    "Grade can be changed,Last modified (grade),Feedback comments\n"
    'Participant 31,Ada Lovelace,ADA@x.edu,"Submitted for grading - ",,100.00,Yes,-,"<p>two\nlines</p>"\n'
    "Participant 32,+Zoë,bob@x.edu,No submission,12.00,100.00,Yes,-,-\n"
    "Participant 33,Kim,kim,No submission,3.00,100.00,Yes,-,\n"
)


def test_a_grading_worksheet_of_moodle_is_filled_in_and_everything_else_kept(export, tmp_path):
    (tmp_path / "worksheet.csv").write_text(WORKSHEET, encoding="utf-8")
    _, rows, notes = export("--format", "moodle", "--into", "worksheet.csv", "--units", "04")
    expected = _rows(tmp_path / "worksheet.csv")
    for row, (name, grade) in zip(expected, [("Ada Lovelace", "8.33333"), ("'+Zoë", "5"), ("Kim", "3.00")], strict=True):
        row |= {"Full name": name, "Grade": grade}
    assert rows == expected
    assert notes[1:] == [
        f"{LOOP} has 100 points there and 10 here",
        "not in worksheet.csv, so their marks are not in it: eve",
    ]


def test_a_worksheet_needs_one_unit(export, tmp_path):
    (tmp_path / "worksheet.csv").write_text(WORKSHEET)
    code, _, (line,) = export("--format", "moodle", "--into", "worksheet.csv")
    assert code == 2
    assert line == f"worksheet.csv: is the worksheet of one assignment; name its unit, one of {ACCUMULATE}, {LOOP}"


def test_a_grade_export_of_moodle_is_filled_in(export, tmp_path):
    exported = (
        "First name,ID number,Email address,Assignment: Unit 03 - accumulate (Real),Course total (Real)\nAda,ada,a@x,-,-\n"
    )
    (tmp_path / "exported.csv").write_text(exported)
    _, rows, notes = export("--format", "moodle", "--into", "exported.csv")
    assert list(rows[0].values()) == ["Ada", "ada", "a@x", "8", "-"]
    assert f"no column there for {LOOP}, left out" in notes


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        (b"", "is not a CSV file"),
        (b"Student,ID\n\xff\xfe\n", "is not in UTF-8"),
        (b"PK\x03\x04\0\0", "exported.csv: "),
        (b"Name,Grade\nAda,1\n", "none of the columns SIS Login ID, SIS User ID, ID is there"),
        (b"ID,Student\n1,Ada\n", "does not begin with the columns Student and ID"),
        (b"Student,ID\nAda,1,2\n", "the line of 'Ada' has more cells than the header"),
        (b"Student,ID,SIS Login ID\nA,1,ada\nB,2,ada@x.edu\n", "'A' and 'B' would both be ada"),
        (b"Student,ID,SIS Login ID,03_accumulate (1),Unit 03 Accumulate (2)\n", "are both called like the unit 03_accumulate"),
    ],
)
def test_a_file_that_cannot_be_filled_in_gets_one_line_and_nothing_is_written(export, tmp_path, content, words):
    if content is not None:
        (tmp_path / "exported.csv").write_bytes(content)
    code, _, (line,) = export("--format", "canvas", "--into", "exported.csv", "--units", "03")
    assert (code, (tmp_path / "out.csv").exists()) == (2, False)
    assert line.startswith("exported.csv: ")
    assert words in line


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--format", "excel"], "unknown format 'excel'; choose one of nbgrader, canvas, moodle"),
        (["--units", "05"], f"no unit is called '05'; there are {ACCUMULATE}, {LOOP}"),
        (["--missing-as-zero"], "--into and --missing-as-zero are for canvas and moodle"),
        (["--db", "sqlite:///missing.db"], "missing.db: there is no such gradebook"),
        (["--db", "gradebook.db"], "'gradebook.db' is no address of a database"),
        (["--db", "mydb://x/y"], "mydb"),
        (["--db", "mysql+no_such_driver://x:secret@y/z"], "no_such_driver"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(export, tmp_path, options, words):
    code, _, (line,) = export(*options)
    assert code == 2
    assert words in line
    assert list(tmp_path.iterdir()) == []


def test_a_directory_without_a_class_is_refused(export, tmp_path):
    code, _, (line,) = export(directory=tmp_path)
    assert (code, line) == (2, f"{tmp_path} is no class (it has no nbgrader_config.py); make one with gradaccum classroom init")


def test_a_configuration_that_does_not_run_is_refused(export, tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c.Exchange = 1 +\n")
    code, _, (line,) = export(directory=tmp_path)
    assert code == 2
    assert line.startswith(f"{tmp_path}/nbgrader_config.py: SyntaxError: ")


def test_a_class_without_a_gradebook_is_not_given_one(export, tmp_path):
    make_course(tmp_path / "new", {})
    code, _, (line,) = export(directory=tmp_path / "new")
    assert (code, (tmp_path / "new/gradebook.db").exists()) == (2, False)
    assert line.endswith("new/gradebook.db: there is no such gradebook; grade something first, or name another with --db")


@pytest.mark.parametrize(("content", "words"), [(b"", "holds no gradebook"), (b"no database at all", "not a database")])
def test_a_file_that_is_no_gradebook_is_refused_and_left_alone(export, tmp_path, content, words):
    (tmp_path / "other.db").write_bytes(content)
    code, _, (line,) = export("--db", "sqlite:///other.db")
    assert (code, (tmp_path / "other.db").read_bytes()) == (2, content)
    assert words in line


def test_a_locked_gradebook_is_said_to_be_locked(export, school, tmp_path):
    shutil.copy(school / "gradebook.db", tmp_path / "locked.db")
    with sqlite3.connect(tmp_path / "locked.db") as somebody:
        somebody.execute("BEGIN EXCLUSIVE")
        code, _, (line,) = export("--db", "sqlite:///locked.db?timeout=0.01")
        somebody.rollback()
    assert code == 2
    assert line.startswith("locked.db: the gradebook is locked by another program")


def test_the_gradebook_stays_as_it_is_whatever_the_configuration_calls_the_course(export, school, tmp_path):
    make_course(tmp_path / "class", {})
    with (tmp_path / "class/nbgrader_config.py").open("a") as file:
        file.write('c.CourseDirectory.course_id = "another name"\n')
    before = shutil.copy(school / "gradebook.db", tmp_path / "class/gradebook.db").read_bytes()
    assert export(directory=tmp_path / "class")[0] == 0
    assert (tmp_path / "class/gradebook.db").read_bytes() == before


def test_a_gradebook_elsewhere_can_be_named_in_the_configuration_relative_to_the_class(export, school, tmp_path):
    make_course(tmp_path / "class", {})
    with (tmp_path / "class/nbgrader_config.py").open("a") as file:
        file.write('c.CourseDirectory.db_url = "sqlite:///marks.db"\n')
    shutil.copy(school / "gradebook.db", tmp_path / "class/marks.db")
    assert export("--format", "canvas", directory=tmp_path / "class")[0] == 0


def test_a_file_that_cannot_be_written_is_said(export):
    code, _, (line,) = export("--format", "canvas", "--to", "/proc/canvas.csv")
    assert code == 2
    assert "/proc" in line


def test_nbgraders_own_command_takes_the_exporters(school, tmp_path, monkeypatch):
    monkeypatch.chdir(school)
    (tmp_path / "exported.csv").write_text("Student,ID,SIS Login ID,Section\nAda,1,ada,A\n")
    configured = f"--CanvasExporter.gradebook={tmp_path / 'exported.csv'}"
    exporter = "--exporter=autograder.classroom.exports.CanvasExporter"
    command = ["export", exporter, "--to", str(tmp_path / "out.csv"), "--assignment", f"['{LOOP}']", configured]
    NbGraderApp(config=Config()).launch_instance(command)
    assert _by(_rows(tmp_path / "out.csv"), "Student", LOOP) == {"Ada": ("8.33333",)}


def test_in_nbgraders_own_command_a_file_that_cannot_be_filled_in_is_logged(school, tmp_path, caplog):
    exporter = CanvasExporter(to=str(tmp_path / "out.csv"), gradebook="missing.csv")
    exporter.log.propagate = True
    with Gradebook(f"sqlite:///{school}/gradebook.db", "gradaccum") as gradebook, pytest.raises(SystemExit):
        exporter.export(gradebook)
    assert "missing.csv" in caplog.text


def test_the_commands_in_the_documentation_run(school, tmp_path, monkeypatch):
    shutil.copytree(school, tmp_path / "my-class")
    (tmp_path / "exported.csv").write_text(CANVAS, encoding="utf-8")
    (tmp_path / "worksheet.csv").write_text(WORKSHEET, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    commands = [line for line in shell_lines("exports.md") if line.startswith("gradaccum classroom export ")]
    assert len(commands) == 4
    for command in commands:
        result = CliRunner().invoke(app, command.split()[2:])
        assert result.exit_code == 0, (command, result.output)


@pytest.mark.parametrize("text", ["=1+1", "+49", "-1", "@SUM(A1)", "\t=1", " =1", "\r=1"])
def test_a_text_that_spreadsheets_take_for_a_formula_gets_an_apostrophe(text):
    assert harmless_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["O'Brien, Zoë", "", "ada@x.edu", "2+2", "李雷"])
def test_other_texts_stay_as_they_are(text):
    assert harmless_cell(text) == text


@pytest.mark.parametrize(("points", "text"), [(0.0, "0"), (100.0, "100"), (7.5, "7.5"), (1 / 3, "0.33333"), (1e-9, "0")])
def test_points_are_written_with_a_decimal_point_and_five_digits_at_most(points, text):
    assert points_text(points) == text


def test_two_students_with_the_same_address_get_no_line_by_it():
    twins = [Enrolled("a", email="x@y"), Enrolled("b", email="X@y")]
    sheet = Sheet(("Email address",), (("x@y",), ("b",)))
    assert match_rows(sheet, {"Email address": ("email", "id")}, twins) == {1: twins[1]}
