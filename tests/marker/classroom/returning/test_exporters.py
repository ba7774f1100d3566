"""Marks are exported to files that nbgrader's users, Canvas and Moodle read."""

from __future__ import annotations

import shutil
import sqlite3
from datetime import datetime

import pytest
from documents import shell_lines
from exported_class import ACCUMULATE, CANVAS, FORMULA, LOOP, WORKSHEET, by, rows_of
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderApp
from nbgrader.plugins import CsvExportPlugin
from traitlets.config import Config
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.classroom.gradebook.class_marks import BY_HAND_GUIDE, STILL_BY_HAND
from autograder.classroom.returning.exporters import NbgraderExporter
from autograder.classroom.returning.lms_exporters import CanvasExporter
from autograder.publishing.nbgrader_course import make_course


def rounded(row: dict[str, str]) -> dict[str, str | float]:
    """A row with its points as numbers, as exactly as they are written."""
    points = ("raw_score", "late_submission_penalty", "score", "max_score")
    return row | {name: round(float(row[name]), 9) for name in points}


def test_nbgraders_csv_has_the_same_rows_as_that_of_nbgraders_own_exporter(school, tmp_path):
    files = tmp_path / "theirs.csv", tmp_path / "ours.csv"
    with Gradebook(f"sqlite:///{school}/gradebook.db", "gradaccum") as gradebook:
        for plugin, file in zip((CsvExportPlugin, NbgraderExporter), files, strict=True):
            plugin(to=str(file), student=["ada", "kim"]).export(gradebook)
    theirs, ours = map(rows_of, files)
    assert list(map(rounded, ours)) == list(map(rounded, theirs))
    assert len(theirs) == 4


def test_in_nbgraders_csv_a_comma_in_a_name_does_not_shift_marks(export):
    _, rows, _ = export("--format", "nbgrader")
    bob = [row for row in rows if row["student_id"] == "bob"]
    assert [(row["last_name"], row["first_name"]) for row in bob] == [("O'Brien, jr", "Zoë")] * 2
    assert [(row["raw_score"], row["late_submission_penalty"], row["score"]) for row in bob] == [
        ("1.0", "3.0", "0.0"),
        ("5.0", "0.0", "5.0"),
    ]


def test_a_new_canvas_file_has_the_columns_that_canvas_reads(export):
    _, rows, _ = export("--format", "canvas")
    assert list(rows[0]) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", ACCUMULATE, LOOP]
    assert tuple(rows[0].values()) == ("    Points Possible", "", "", "", "", "8", "10")
    assert by(rows[1:], "SIS Login ID", "Student", "ID") == {
        "ada": ("Lovelace, Ada", "9001"),
        "bob": ("O'Brien, jr, Zoë", ""),
        "eve": (f"'{FORMULA}", ""),
        "kim": ("kim", ""),
    }


POINTS = {"ada": ("8", "8.33333"), "bob": ("0", "5"), "eve": ("0", ""), "kim": ("", "")}


def test_penalties_count_as_in_nbgrader_and_missing_marks_are_empty_cells(export):
    canvas, moodle = export("--format", "canvas")[1], export("--format", "moodle")[1]
    assert by(canvas[1:], "SIS Login ID", ACCUMULATE, LOOP) == POINTS
    assert by(moodle, "Username", f"Assignment: {ACCUMULATE} (Real)", f"Assignment: {LOOP} (Real)") == POINTS


def test_on_request_a_missing_mark_counts_as_zero(export):
    _, rows, _ = export("--format", "canvas", "--missing-as-zero")
    assert by(rows[1:], "SIS Login ID", ACCUMULATE, LOOP)["kim"] == ("0", "0")


def test_a_unit_that_a_student_may_still_hand_in_is_not_missing(export, school, tmp_path):
    directory = shutil.copytree(school, tmp_path / "class")
    (directory / "deadlines.csv").write_text("unit,student,due,extra_days\n04,,2026-11-01 00:00 UTC,\n04,eve,,3650\n")
    _, rows, _ = export("--format", "canvas", "--missing-as-zero", directory=directory)
    assert by(rows[1:], "SIS Login ID", LOOP) == {"ada": ("8.33333",), "bob": ("5",), "eve": ("",), "kim": ("0",)}
    table = [row for row in export("--format", "nbgrader", directory=directory)[1] if row["assignment"] == LOOP]
    assert {row["student_id"]: row["score"] for row in table if row["student_id"] in ("eve", "kim")} == {
        "eve": "",
        "kim": "0.0",
    }
    with Gradebook(f"sqlite:///{directory}/gradebook.db", "gradaccum") as gradebook:
        gradebook.find_assignment(LOOP).duedate = datetime(2126, 11, 1)
        gradebook.db.commit()
    _, rows, _ = export("--format", "canvas", "--missing-as-zero", directory=directory)
    assert by(rows[1:], "SIS Login ID", LOOP)["kim"] == ("",)


def test_the_export_can_be_limited_to_some_units(export):
    _, rows, _ = export("--format", "canvas", "--units", "04")
    assert list(rows[0])[5:] == [LOOP]


def test_answers_that_wait_for_a_manual_grade_are_named(export):
    assert export("--format", "canvas")[2] == [f"{LOOP} has answers that nobody has graded yet: bob"]
    assert export("--format", "canvas", "--units", "03")[2] == []


def test_points_by_hand_for_an_answer_that_was_marked_again_are_named_in_the_units_exported(export, school, tmp_path):
    directory = shutil.copytree(school, tmp_path / "class")
    with Gradebook(f"sqlite:///{directory}/gradebook.db", "gradaccum") as gradebook:
        grade = gradebook.find_grade("code", LOOP, LOOP, "ada")
        grade.manual_score, grade.needs_manual_grade = 3, True
        gradebook.db.commit()
    by_hand, waiting = f"{LOOP}: {STILL_BY_HAND}: ada; {BY_HAND_GUIDE}", f"{LOOP} has answers that nobody has graded yet: bob"
    assert export("--format", "canvas", directory=directory)[2] == [waiting, by_hand]
    assert export("--format", "canvas", "--units", "03", directory=directory)[2] == []


def test_a_student_without_email_is_named_because_moodle_would_give_the_grade_to_another(export):
    _, rows, notes = export("--format", "moodle", "--units", "03")
    assert list(rows[0])[:4] == ["First name", "Last name", "Username", "Email address"]
    assert notes[0].startswith("no email address, ")
    assert notes[0].endswith(": kim")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--format", "excel"], "unknown format 'excel'; choose one of nbgrader, canvas, moodle, blackboard"),
        (["--units", "05"], f"no unit is called '05'; there are {ACCUMULATE}, {LOOP}"),
        (["--missing-as-zero"], "--into and --missing-as-zero are for an LMS"),
        (["--db", "sqlite:///missing.db"], "missing.db: there is no such gradebook"),
        (["--db", "gradebook.db"], "'gradebook.db' is no address of a database"),
        (["--db", "mydb://x/y"], "mydb"),
        (["--db", "mysql+no_such_driver://x:secret@y/z"], "no_such_driver"),
    ],
)
def test_impossible_options_are_refused_in_one_line(export, tmp_path, options, words):
    code, _, (line,) = export(*options)
    assert code == 2
    assert words in line
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_not_a_class_is_refused(export, tmp_path):
    code, _, (line,) = export(directory=tmp_path)
    assert (code, line) == (2, f"{tmp_path} is no class (it has no nbgrader_config.py); make one with gradaccum classroom init")


def test_a_configuration_that_does_not_run_is_refused(export, tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c.Exchange = 1 +\n")
    code, _, (line,) = export(directory=tmp_path)
    assert code == 2
    assert line.startswith(f"{tmp_path}/nbgrader_config.py: SyntaxError: ")


def test_exporting_a_class_without_a_gradebook_does_not_create_one(export, tmp_path):
    make_course(tmp_path / "new", {})
    code, _, (line,) = export(directory=tmp_path / "new")
    assert (code, (tmp_path / "new/gradebook.db").exists()) == (2, False)
    assert line.endswith("new/gradebook.db: there is no such gradebook; grade something first, or name another with --db")


@pytest.mark.parametrize(("content", "words"), [(b"", "holds no gradebook"), (b"no database at all", "not a database")])
def test_a_file_that_is_not_a_gradebook_is_refused_and_not_changed(export, tmp_path, content, words):
    (tmp_path / "other.db").write_bytes(content)
    code, _, (line,) = export("--db", "sqlite:///other.db")
    assert (code, (tmp_path / "other.db").read_bytes()) == (2, content)
    assert words in line


def test_the_message_for_a_locked_gradebook_says_so(export, school, tmp_path):
    shutil.copy(school / "gradebook.db", tmp_path / "locked.db")
    with sqlite3.connect(tmp_path / "locked.db") as other_program:
        other_program.execute("BEGIN EXCLUSIVE")
        code, _, (line,) = export("--db", "sqlite:///locked.db?timeout=0.01")
        other_program.rollback()
    assert code == 2
    assert line.startswith("locked.db: the gradebook is locked by another program")


def test_exporting_does_not_change_the_gradebook_whatever_the_configuration_calls_the_course(export, school, tmp_path):
    make_course(tmp_path / "class", {})
    with (tmp_path / "class/nbgrader_config.py").open("a") as file:
        file.write('c.CourseDirectory.course_id = "another name"\n')
    before = shutil.copy(school / "gradebook.db", tmp_path / "class/gradebook.db").read_bytes()
    assert export(directory=tmp_path / "class")[0] == 0
    assert (tmp_path / "class/gradebook.db").read_bytes() == before


def test_a_path_to_the_gradebook_in_the_configuration_is_relative_to_the_class(export, school, tmp_path):
    make_course(tmp_path / "class", {})
    with (tmp_path / "class/nbgrader_config.py").open("a") as file:
        file.write('c.CourseDirectory.db_url = "sqlite:///marks.db"\n')
    shutil.copy(school / "gradebook.db", tmp_path / "class/marks.db")
    assert export("--format", "canvas", directory=tmp_path / "class")[0] == 0


def test_a_file_that_cannot_be_written_is_named(export):
    code, _, (line,) = export("--format", "canvas", "--to", "/proc/canvas.csv")
    assert code == 2
    assert "/proc" in line


def test_nbgraders_own_command_accepts_the_exporters(school, tmp_path, monkeypatch):
    monkeypatch.chdir(school)
    (tmp_path / "exported.csv").write_text("Student,ID,SIS Login ID,Section\nAda,1,ada,A\n")
    configured = f"--CanvasExporter.gradebook={tmp_path / 'exported.csv'}"
    exporter = "--exporter=autograder.classroom.exports.CanvasExporter"
    command = ["export", exporter, "--to", str(tmp_path / "out.csv"), "--assignment", f"['{LOOP}']", configured]
    NbGraderApp(config=Config()).launch_instance(command)
    assert by(rows_of(tmp_path / "out.csv"), "Student", LOOP) == {"Ada": ("8.33333",)}


def test_nbgraders_own_command_logs_a_file_that_cannot_be_filled_in(school, tmp_path, caplog):
    exporter = CanvasExporter(to=str(tmp_path / "out.csv"), gradebook="missing.csv")
    exporter.log.propagate = True
    with Gradebook(f"sqlite:///{school}/gradebook.db", "gradaccum") as gradebook, pytest.raises(SystemExit):
        exporter.export(gradebook)
    assert "missing.csv" in caplog.text


def test_the_commands_in_the_documentation_run(school, tmp_path, monkeypatch):
    shutil.copytree(school, tmp_path / "my-class")
    (tmp_path / "exported.csv").write_text(CANVAS, encoding="utf-8")
    (tmp_path / "worksheet.csv").write_text(WORKSHEET, encoding="utf-8")
    (tmp_path / "gc_my-course.xls").write_text("Username\tUnit 4 [Total Pts: 10 Score] |1\nada\t\n", encoding="utf-16")
    monkeypatch.chdir(tmp_path)
    commands = [line for line in shell_lines("exports.md") if line.startswith("gradaccum classroom export ")]
    assert len(commands) == 5
    for command in commands:
        result = CliRunner().invoke(app, command.split()[2:])
        assert result.exit_code == 0, (command, result.output)
