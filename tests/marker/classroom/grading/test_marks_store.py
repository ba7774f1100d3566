"""Marks are stored completely or not at all, and damaged ones are recognised."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.classroom.grading.marks_store import DamagedMarksError, MarksStore, student_marks
from autograder.exercises import all_exercises
from autograder.marking.in_process import mark_function
from autograder.marking.marker import Marks
from gradaccum import loops

UNIT = "04_training_loop"


@pytest.fixture(scope="module")
def marks():
    verdict = mark_function(all_exercises()["train_epoch"], loops.no_scale)
    return student_marks("ada", "k", 0.5, Marks("f.ipynb", UNIT, "cpu", (verdict,)))


@pytest.fixture
def store(tmp_path):
    return MarksStore(tmp_path)


def test_stored_marks_are_read_unchanged(store, marks):
    store.write(marks, "{}")
    assert store.read("ada", UNIT) == marks
    assert store.submissions() == [("ada", UNIT)]
    assert store.notebook_path("ada", UNIT).read_text() == "{}"


def test_marks_hold_mistakes_points_and_fingerprints_of_the_verdict(marks):
    exercise = marks.exercises[0]
    assert [mistake.slug for mistake in exercise.mistakes] == ["no-scale"]
    assert marks.score < marks.max_score
    assert len(exercise.fingerprints) == 2


def test_a_submission_that_was_never_marked_has_no_marks(store):
    assert store.read("ada", UNIT) is None
    assert store.submissions() == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 0}', '{"format": 1, "exercises": [1]}', "\x00"])
def test_a_damaged_file_is_named(store, marks, text):
    store.write(marks, "{}")
    store.path("ada", UNIT).write_text(text)
    with pytest.raises(DamagedMarksError, match=r"04_training_loop\.json: .+; delete it and grade again"):
        store.read("ada", UNIT)


TEXTS, NUMBERS = ("message", "slug", "failure", "remark", "device", "problem"), ("points", "max_points", "seconds")


@pytest.mark.parametrize(("field", "wrong"), [(f, w) for f in TEXTS for w in ("null", "1")] + [(f, "NaN") for f in NUMBERS])
def test_a_field_with_a_value_of_the_wrong_type_counts_as_damage(marks, field, wrong):
    text = re.sub(rf'("{field}": )("[^"]*"|[\d.]+)', rf"\g<1>{wrong}", marks.as_json(), count=1)
    with pytest.raises(DamagedMarksError, match=field):
        type(marks).from_json(text)


def test_marks_of_another_student_count_as_damage(store, marks):
    store.write(marks, "{}")
    Path(store.folder, "bob").mkdir()
    store.path("ada", UNIT).rename(store.path("bob", UNIT))
    with pytest.raises(DamagedMarksError, match="ada"):
        store.read("bob", UNIT)
