"""On a disk that is full or read-only each command names the file in one line, and leaves nothing half-written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from graded_class import UNIT, GradedClass, Result, ended

from autograder.classroom.grading.class_to_mark import ClassToMark
from autograder.classroom.grading.marks_store import MarksStore, StudentMarks

pytestmark = pytest.mark.slow

READ_ONLY = "mount --bind '{0}' '{0}'; mount -o remount,bind,ro '{0}'"
FULL_DISK = """
mkdir '{0}/disk'; mount -t tmpfs -o size=8m none '{0}/disk'; cp -a '{0}/class' '{0}/disk/class'
free=$(stat -f -c '%a * %S' '{0}/disk'); head -c $((free)) /dev/zero > '{0}/disk/filler'
"""
KEPT = "rm '{0}/disk/filler'; cp -a '{0}/disk/class' '{0}/after'"
"""What a command leaves of a class that is on a disk without room, as ``after``."""


@pytest.fixture
def course(course) -> GradedClass:
    """A class in which ada and bob are marked, and ada's marks are in the gradebook."""
    for student in ("ada", "bob"):
        course.hand_in(student, course.right)
        MarksStore(course.directory).write(StudentMarks(student, UNIT, "key", "cpu", 1.0, ()), course.right.decode())
    ClassToMark(course.directory).recorder.record("ada", UNIT, course.right.decode())
    return course


def run_read_only(course: GradedClass, place: Path, command: str, *options: str) -> Result:
    """Run a command on a class while a file or a folder of it can only be read."""
    return ended(course.fork_with_mounts(course.directory, command, *options, before=READ_ONLY.format(place)))


def files(folder: Path) -> dict[Path, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != ".grading.lock")
    return {path.relative_to(folder): path.read_bytes() for path in found}


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_read_only_gradebook_is_named_by_grade_in_one_line_and_marks_are_kept(course, journal):
    import sqlite3

    gradebook = course.directory / "gradebook.db"
    with sqlite3.connect(gradebook) as database:
        assert database.execute(f"pragma journal_mode={journal}").fetchone() == (journal,)
    result = run_read_only(course, gradebook, "grade", "--scheduler", course.scheduler)
    progress, complaint = result.complaints.splitlines()[:-1], result.complaints.splitlines()[-1]
    assert result.status == 1
    assert all("marked, about" in line for line in progress)
    assert f"({gradebook}: attempt to write a readonly database; ls -ld on it and on its folder" in complaint
    assert {path.parent.name for path in course.directory.glob("marks/*/*.json")} == {"ada", "bob"}


def test_a_read_only_gradebook_is_named_in_one_line_when_students_are_enrolled_or_forgotten(course, tmp_path):
    gradebook, roster = course.directory / "gradebook.db", tmp_path / "roster.csv"
    roster.write_text("id,first_name\nzoe,Zoe\n")
    enrolled = run_read_only(course, gradebook, "init", "--units", "03", "--roster", str(roster))
    forgotten = run_read_only(course, gradebook, "forget", "ada", "--yes")
    for result in (enrolled, forgotten):
        assert result.status == 2
        (line,) = result.complaints.splitlines()
        assert f"{gradebook}: attempt to write a readonly database; ls -ld" in line


@pytest.mark.parametrize("command", ["feedback", "report", "export"])
def test_a_read_only_class_is_named_in_one_line(course, command):
    result = run_read_only(course, course.directory, command)
    assert result.status == 2, result
    assert re.fullmatch(
        rf"gradaccum classroom {command}: {course.directory}/\S+: Read-only file system; mount it .*\n", result.complaints
    )


@pytest.mark.parametrize(
    ("command", "options", "named"),
    [
        ("grade", ("--from", "DOWNLOAD"), f"submitted/eve/{UNIT}/{UNIT}.ipynb"),
        ("feedback", (), f"feedback/ada/{UNIT}"),
        ("report", (), "report.html"),
        ("export", (), "grades.csv"),
        ("init", ("--units", "04"), "source/04_training_loop/04_training_loop.ipynb"),
    ],
)
def test_a_full_disk_is_named_with_the_file_in_one_line_and_nothing_is_half_written(course, tmp_path, command, options, named):
    (tmp_path / "download").mkdir()
    (tmp_path / "download/eve.ipynb").write_bytes(course.right)
    options = [str(tmp_path / "download") if option == "DOWNLOAD" else option for option in options]
    scripts = {"before": FULL_DISK.format(tmp_path), "after": KEPT.format(tmp_path)}
    result = ended(course.fork_with_mounts(tmp_path / "disk/class", command, *options, **scripts))
    assert result.status == 2, result
    complaint = [line for line in result.complaints.splitlines() if "about" not in line]
    advice = "No space left on device; make room there and start again; nothing is half-written"
    assert complaint == [f"gradaccum classroom {command}: {tmp_path}/disk/class/{named}: {advice}"]
    assert files(tmp_path / "after") == files(course.directory)
