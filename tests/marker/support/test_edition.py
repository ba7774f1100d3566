"""Marks and workers are tied to the source of this package, even if its version stays the same."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from autograder.classroom.grading.class_to_mark import ClassToMark, HandedIn
from autograder.classroom.grading.jobs import Job, mark_job
from autograder.isolation.sandbox import ChildError
from autograder.publishing.nbgrader_course import make_course
from autograder.support.edition import edition, source_digest


@pytest.fixture
def package(tmp_path):
    """A package with two files."""
    folder = tmp_path / "here" / "package"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.py").write_text("x = 1\n")
    (folder / "inner" / "b.py").write_text("")
    return folder


def test_an_edition_contains_the_version():
    assert edition().startswith(f"{version('gradaccum')} (")


def test_the_source_digest_does_not_depend_on_the_parent_folder(package, tmp_path):
    before = source_digest([package])
    assert source_digest([package.rename(tmp_path / "package")]) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "a.py").write_text("x = 2\n"),
        lambda folder: (folder / "a.py").rename(folder / "c.py"),
        lambda folder: (folder / "inner" / "b.py").rename(folder / "b.py"),
        lambda folder: (folder / "inner" / "b.py").unlink(),
    ],
)
def test_changed_source_has_another_digest(package, change):
    before = source_digest([package])
    change(package)
    assert source_digest([package]) != before


def test_marks_of_another_edition_are_not_reused(tmp_path, monkeypatch):
    make_course(tmp_path / "class", {})
    marked_class = ClassToMark(tmp_path / "class")
    file = marked_class.submitted / "ada" / "04_training_loop" / "04_training_loop.ipynb"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"{}")
    handed_in = HandedIn("ada", "04_training_loop", file)
    key = marked_class.job(handed_in, {}).key
    assert marked_class.job(handed_in, {}).key == key
    monkeypatch.setattr("autograder.classroom.grading.class_to_mark.edition", lambda: f"{version('gradaccum')} (00000000)")
    assert marked_class.job(handed_in, {}).key != key


def test_a_worker_of_another_edition_marks_nothing():
    job = Job("ada", "04_training_loop", "key", b"{}", {}, 0, "none", "cpu", edition="0.0.1 (00000000)")
    with pytest.raises(ChildError, match=r"a worker has gradaccum .*, not 0\.0\.1 \(00000000\); install the same everywhere"):
        mark_job(job)
