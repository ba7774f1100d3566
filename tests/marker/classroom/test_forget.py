"""``gradaccum classroom forget`` deletes everything about one student, and nothing about anybody else."""

from __future__ import annotations

import shutil
import zipfile

import pytest
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.classroom.gradebook.database import open_gradebook
from autograder.classroom.gradebook.enrolment import enrol, enrolled
from autograder.classroom.grading.class_to_mark import ClassToMark
from autograder.classroom.students import Student

pytestmark = pytest.mark.slow


@pytest.fixture
def of_two(course):
    """A class in which ada and bob were marked: their files are in every folder that a class has, and in the gradebook."""
    marked_class = ClassToMark(course.directory)
    enrol([Student("ada", "Ada", "Lovelace"), Student("bob", "Bob", "Noyce")], marked_class.coursedir.db_url)
    for student in ("ada", "bob"):
        course.hand_in(student, course.untouched)
        marked_class.recorder.record(student, course.unit, course.untouched.decode())
        for folder in ("submitted-earlier", "feedback", "marks"):
            place = course.directory / folder / student / course.unit
            place.mkdir(parents=True)
            (place / "file").write_text("x")
    return course


FOLDERS = ("submitted", "autograded", "feedback", "submitted-earlier", "marks")


def files_by_student(course) -> dict[str, int]:
    found = [path for path in course.directory.rglob("*") if path.is_file()]
    return {student: sum(student in path.parts for path in found) for student in ("ada", "bob")}


def test_everything_about_a_student_is_deleted_and_nothing_of_others(of_two):
    url, before = ClassToMark(of_two.directory).coursedir.db_url, files_by_student(of_two)
    assert before["ada"] == before["bob"] >= 5
    said = of_two.do("forget", "ada", "--yes")
    assert said.output.splitlines()[:-1] == [
        "ada",
        *(f"  {of_two.directory / folder / 'ada'}" for folder in FOLDERS),
        "  their entry in the gradebook",
    ]
    assert files_by_student(of_two) == {"ada": 0, "bob": before["bob"]}
    assert [student.id for student in enrolled(url)[0]] == ["bob"]


def test_files_that_still_name_the_student_are_listed(of_two):
    (of_two.directory / "report.html").write_text("<td>ada</td>")
    (of_two.directory / "other.csv").write_text("bob,1\n")
    said = of_two.do("forget", "ada", "--yes")
    assert "report.html still names ada" in said.complaints
    assert "other.csv" not in said.complaints


def test_an_archive_for_an_lms_that_names_the_student_is_listed(of_two):
    with zipfile.ZipFile(of_two.directory / "feedback.zip", "w") as archive:
        archive.writestr("Ada Lovelace_1234_assignsubmission_file/03.html", "")
    with zipfile.ZipFile(of_two.directory / "canvas.zip", "w") as archive:
        archive.writestr("lovelaceada_17_23_03.html", "")
    (of_two.directory / "other.csv").write_text("Adam,adapter\nAda Love,Lovelace\n")
    said = of_two.do("forget", "ada", "--yes")
    assert "feedback.zip still names ada" in said.complaints
    assert "canvas.zip still names ada" in said.complaints
    assert "other.csv" not in said.complaints


def test_a_file_in_utf_16_that_names_the_student_is_listed(of_two):
    (of_two.directory / "blackboard.xls").write_text("Username\tUnit 4\nada\t10\n", encoding="utf-16")
    assert "blackboard.xls still names ada" in of_two.do("forget", "ada", "--yes").complaints


def test_one_unit_of_a_student_is_taken_back_and_the_student_stays(of_two):
    (of_two.directory / "submitted" / "ada" / "04_training_loop").mkdir()
    marked_class = ClassToMark(of_two.directory)
    said = of_two.do("forget", "ada", "--units", of_two.unit, "--yes")
    assert f"  the marks of {of_two.unit} in the gradebook" in said.output.splitlines()
    left = {path.relative_to(of_two.directory).parts[0] for path in of_two.directory.rglob("*/ada/*")}
    assert left == {"submitted"}
    with open_gradebook(marked_class.coursedir.db_url) as gradebook:
        assert [one.student.id for one in gradebook.assignment_submissions(of_two.unit)] == ["bob"]
        assert [student.id for student in gradebook.students] == ["ada", "bob"]


def test_marks_without_a_submission_are_named_with_how_to_take_them_back(of_two):
    (of_two.directory / "marks" / "ada" / f"{of_two.unit}.json").write_text("{}")
    shutil.rmtree(of_two.directory / "submitted" / "ada")
    (line,) = ClassToMark(of_two.directory).without_submission()
    assert line.startswith(f"{of_two.unit} is marked, but not in ")
    assert line.endswith(
        f"of ada; the marks still count; to take them back, give forget {of_two.directory} STUDENT --units {of_two.unit[:2]}"
    )
    assert ClassToMark(of_two.directory).without_submission(students=["bob"]) == []


def test_nothing_is_deleted_without_a_yes(of_two):
    before = files_by_student(of_two)
    of_two.do("forget", "ada", status=1)
    result = CliRunner().invoke(app, ["forget", str(of_two.directory), "ada"], input="n\n")
    assert (result.exit_code, result.output.splitlines()[-1]) == (1, "nothing was deleted")
    assert files_by_student(of_two) == before


@pytest.mark.parametrize(
    "command", [("forget", "eve", "--yes"), ("grade", "--students", "ada,eve"), ("feedback", "--students", "eve")]
)
def test_an_unknown_student_is_named_and_nothing_happens(of_two, command):
    before = files_by_student(of_two)
    said = of_two.do(command[0], *command[1:], status=2)
    assert "has no student 'eve'; give ids" in said.complaints
    assert files_by_student(of_two) == before


def test_who_is_called_by_the_user_name_of_an_address_is_asked_after(of_two):
    enrol([Student("eve@example.org", "Eve", "Adams")], ClassToMark(of_two.directory).coursedir.db_url)
    said = of_two.do("grade", "--students", "Eve", status=2)
    assert "has no student 'Eve' (is 'eve@example.org' meant?); give ids as in the roster" in said.complaints


def test_rows_about_the_student_are_deleted_from_tables_and_those_of_others_stay(of_two):
    regrades = "student,unit,exercise,reason,answer,points,before,after,answered\n"
    rows = {
        "deadlines.csv": "unit,student,due,extra_days\n03_accumulate,{},,2\n",
        "file_owners.csv": "file,student\n11,{}\n",
        "regrades.csv": regrades + "{},03_accumulate,same_update,Why?,No.,,0,0,2026-11-30\n",
    }
    for name, text in rows.items():
        header, row = text.splitlines(keepends=True)
        (of_two.directory / name).write_text(header + row.format("ada") + row.format("bob"))
    said = of_two.do("forget", "ada", "--yes")
    assert "still names ada" not in said.complaints
    for name, text in rows.items():
        assert str(of_two.directory / name) in said.output
        assert (of_two.directory / name).read_text() == text.format("bob")


def test_a_table_that_cannot_be_read_keeps_everything(of_two):
    before = files_by_student(of_two)
    (of_two.directory / "deadlines.csv").write_text("who\nada\n")
    assert "no column 'unit'" in of_two.do("forget", "ada", "--yes", status=2).complaints
    assert files_by_student(of_two) == before
