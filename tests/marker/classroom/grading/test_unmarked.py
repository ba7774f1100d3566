"""A class in which the marker fails on some submissions: they stay unmarked, and everything else goes on."""

from __future__ import annotations

import contextlib
import csv
import json
import re

import pytest
from exported_class import export
from graded_class import FULL, UNIT, GradedClass
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde

from autograder.classroom.gradebook.nbgrader_converters import ConvertingError, KeepsCause, convert, quiet_log
from autograder.classroom.grading import grade_class, jobs
from autograder.classroom.grading.marks_store import MarksStore
from autograder.exercises.unit_03_accumulate.exercises import SumFormLr
from autograder.publishing.nbgrader_course import course_directory

pytestmark = pytest.mark.slow

GOOD, BAD = "good", "bad"


class HereInstead:
    """Marks in this process, in place of workers in others: a test can break the judge here."""

    def map(self, waiting):
        return ((job, jobs.mark_job(job)) for job in waiting)


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """A class with two submissions, of which the marker is to fail on one."""
    course = GradedClass(tmp_path_factory.mktemp("course"), "")
    notebook = json.loads(course.right)
    for cell in notebook["cells"]:
        if cell.get("id") == "sum_form_lr-solution":
            cell["source"] = "def sum_form_lr(lr, accumulation_steps):\n    return lr\n"
    with Gradebook(f"sqlite:///{course.directory}/gradebook.db") as gradebook:
        gradebook.add_student(BAD)
    course.hand_in(GOOD, course.right)
    course.hand_in(BAD, json.dumps(notebook).encode())
    return course


@pytest.fixture
def course(handed_in, tmp_path, monkeypatch):
    """A copy of the class, marked in this process without a sandbox."""
    monkeypatch.setattr(grade_class, "workers", lambda *_: contextlib.nullcontext(HereInstead()))
    monkeypatch.setattr(
        GradedClass, "grade", lambda self, *options, status=0: self.do("grade", *NO_SANDBOX, *options, status=status)
    )
    return handed_in.copied_to(tmp_path)


NO_SANDBOX = ("--sandbox", "none")


@pytest.fixture
def broken_judge(monkeypatch):
    """A judge that fails on wrong answers. Returns what repairs it."""
    judge = SumFormLr.judge

    def broken(self, trials, observations):
        verdict = judge(self, trials, observations)
        return verdict if verdict.passed else verdict.results[99]

    monkeypatch.setattr(SumFormLr, "judge", broken)
    return lambda: monkeypatch.setattr(SumFormLr, "judge", judge)


def test_submission_on_which_a_judge_fails_is_listed_and_stays_out_of_gradebook_exports_and_report(
    course, broken_judge, tmp_path
):
    result = course.grade(status=3)
    assert f"unmarked: {BAD}, {UNIT}: the marker failed on sum_form_lr (IndexError in " in result.complaints
    assert GOOD not in result.complaints
    assert "1 marked, 0 unchanged, 1 unmarked, 1 put into the gradebook" in result.output
    assert re.search(rf"^{UNIT} +2 +1 +0 +1 +10\.0 ", result.output, re.MULTILINE)
    assert "Traceback" in (course.directory / "marker-errors.log").read_text()
    assert course.scores() == {GOOD: FULL}

    stored = MarksStore(course.directory).read(BAD, UNIT)
    assert stored.score is None
    assert {one.id: one.score for one in stored.exercises} == {"accumulate_gradient": 6, "sum_form_lr": None, "same_update": 2}

    course.do("report")
    with (course.directory / "report.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["student"] == BAD]
    assert {(row["score"], row["passed"], row["state"]) for row in rows} == {("", "", "not marked yet")}

    for options in (("--format", "nbgrader"), ("--format", "canvas", "--missing-as-zero")):
        _, lines, notes = export(course.directory, tmp_path, *options, "--to", tmp_path / "out.csv")
        scores = {row.get("student_id") or row["SIS Login ID"]: row.get("score", row.get(UNIT)) for row in lines}
        assert float(scores[GOOD]) == FULL
        assert scores[BAD] == ""
        assert f"{UNIT} was handed in, but is not marked, so left empty: {BAD}" in notes


def test_next_run_marks_what_was_unmarked_and_nothing_else(course, broken_judge):
    course.grade(status=3)
    course.grade(status=3)
    broken_judge()
    assert "1 marked, 1 unchanged, 1 put into the gradebook" in course.grade().output
    assert course.scores() == {GOOD: FULL, BAD: FULL - 2}


def test_failure_outside_of_judging_leaves_one_submission_unmarked(course, monkeypatch):
    mark = jobs._marked

    def fails_on_one(job):
        if job.student == BAD:
            raise ZeroDivisionError
        return mark(job)

    monkeypatch.setattr(jobs, "_marked", fails_on_one)
    assert f"unmarked: {BAD}, {UNIT}: the marker failed (ZeroDivisionError" in course.grade(status=3).complaints
    assert course.scores() == {GOOD: FULL}


def test_submission_whose_workers_died_is_listed_and_marked_by_the_next_run(course, monkeypatch):
    def killed_on_one(self, waiting):
        for job in waiting:
            yield job, jobs.Broken("workers died") if job.student == BAD else jobs.mark_job(job)

    with monkeypatch.context() as patched:
        patched.setattr(HereInstead, "map", killed_on_one)
        assert f"unmarked: {BAD}, {UNIT}: workers died; see " in course.grade(status=3).complaints
    course.grade()
    assert course.scores().keys() == {GOOD, BAD}


class _Autograde(KeepsCause, Autograde):
    """nbgrader's own, which says why it failed."""


def test_nbgrader_reports_an_error_of_the_unmarked_submission_and_grades_the_other(course, broken_judge):
    coursedir = course_directory(course.directory)
    coursedir.config.MarkSubmission.sandbox = "none"

    def autograde(student):
        convert(_Autograde(coursedir=coursedir, config=coursedir.config, log=quiet_log()), UNIT, student)

    with pytest.raises(ConvertingError, match="unmarked: the marker failed on sum_form_lr"):
        autograde(BAD)
    autograde(GOOD)
    assert course.scores() == {GOOD: FULL}
    broken_judge()
    autograde(BAD)
    assert course.scores() == {GOOD: FULL, BAD: FULL - 2}
    broken_judge()
    with Gradebook(f"sqlite:///{course.directory}/gradebook.db") as gradebook:
        assert not gradebook.find_submission(UNIT, BAD).needs_manual_grade
