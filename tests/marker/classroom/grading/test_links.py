"""No link in a submission is followed, neither by ``classroom grade`` nor by nbgrader's own commands in a class."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from graded_class import FULL, UNIT, GradedClass
from nbgrader_class import Course

pytestmark = pytest.mark.slow

NOT_FOLLOWED = {
    "link-to-another-students-notebook": f"{UNIT}/{UNIT}.ipynb",
    "link-to-the-solutions": f"{UNIT}/{UNIT}.ipynb",
    "link-to-another-students-folder": "",
    "link-to-another-students-unit": UNIT,
    "link-to-nothing": f"{UNIT}/{UNIT}.ipynb",
    "link-to-itself": f"{UNIT}/{UNIT}.ipynb",
    "link-to-a-pipe": f"{UNIT}/{UNIT}.ipynb",
    "link-to-a-device": f"{UNIT}/{UNIT}.ipynb",
    "link-beside-the-notebook": f"{UNIT}/data/more/secret.csv",
    "link-to-a-folder-beside-the-notebook": f"{UNIT}/data",
    "link-for-the-time": f"{UNIT}/timestamp.txt",
    "a-pipe": f"{UNIT}/{UNIT}.ipynb",
    "a-pipe-for-the-time": f"{UNIT}/timestamp.txt",
}
"""What is not an ordinary file in each student's submission."""


def hand_in_links(directory: Path, right: bytes) -> None:
    """Two honest submissions, and many with links, in a class; the instructor has a secret, and there is a pipe."""
    submitted, secret, pipe = directory / "submitted", directory / "secret.txt", directory / "pipe"
    secret.write_text("the secret of the class")
    os.mkfifo(pipe)
    for student in ("honest", "zoe"):
        (submitted / student / UNIT).mkdir(parents=True)
        (submitted / student / UNIT / f"{UNIT}.ipynb").write_bytes(right)
    targets = {
        "link-to-another-students-notebook": submitted / "honest" / UNIT / f"{UNIT}.ipynb",
        "link-to-the-solutions": f"../../../source/{UNIT}/{UNIT}.ipynb",
        "link-to-another-students-folder": "honest",
        "link-to-another-students-unit": f"../honest/{UNIT}",
        "link-to-nothing": "nowhere",
        "link-to-itself": f"{UNIT}.ipynb",
        "link-to-a-pipe": pipe,
        "link-to-a-device": "/dev/zero",
        "link-beside-the-notebook": secret,
        "link-to-a-folder-beside-the-notebook": "../../honest",
        "link-for-the-time": "/dev/zero",
    }
    for student, place in NOT_FOLLOWED.items():
        path = submitted / student / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if not place.startswith(f"{UNIT}/{UNIT}") and place.startswith(f"{UNIT}/"):
            (submitted / student / UNIT / f"{UNIT}.ipynb").write_bytes(right)
        if student in targets:
            path.symlink_to(targets[student])
        else:
            os.mkfifo(path)


def files_with_secrets(directory: Path) -> Iterator[Path]:
    for folder in ("autograded", "feedback", "marks"):
        for path in (directory / folder).rglob("*"):
            if path.is_file() and b"the secret of the class" in path.read_bytes():
                yield path


def test_classroom_grade_follows_no_link_and_marks_the_rest(course: GradedClass):
    hand_in_links(course.directory, course.right)
    result = course.grade(status=1)
    assert course.scores() == {"honest": FULL, "zoe": FULL}
    assert "2 marked" in result.output
    lines = result.complaints.splitlines()
    for student, place in NOT_FOLLOWED.items():
        what = "is a link, which is not followed; give the file" if student.startswith("link") else "is not a file"
        named = [line for line in lines if f"{course.directory.resolve() / 'submitted' / student / place}: {what}" in line]
        assert len(named) == 1, (student, lines)
    assert list(files_with_secrets(course.directory)) == []


def test_nbgrader_autograde_follows_no_link_and_marks_the_rest(tmp_path):
    course = Course(tmp_path, "--units", UNIT[:2])
    course.run("nbgrader", "generate_assignment", UNIT)
    hand_in_links(course.directory, (course.directory / "source" / UNIT / f"{UNIT}.ipynb").read_bytes())
    done = course.run("nbgrader", "autograde", UNIT)
    assert sorted(path.name for path in (course.directory / "autograded").iterdir()) == ["honest", "zoe"]
    for student in NOT_FOLLOWED:
        assert f"/{student}" in done.stderr
    assert done.stderr.count("not marked") == len(NOT_FOLLOWED)
    course.run("nbgrader", "generate_feedback", UNIT)
    assert list(files_with_secrets(course.directory)) == []
    alone = course.python(
        "-m", "nbgrader", "autograde", UNIT, "--student", "link-to-the-solutions", environment=course.environment
    )
    assert alone.returncode != 0
    assert "is a link, which is not followed" in alone.stderr
