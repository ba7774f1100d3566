"""Judges raise on no observation that fits its schema, whatever is in it. The benchmark tries thousands; here are a few."""

from __future__ import annotations

import random

import judge_fuzz
import pytest

from autograder.contract.exercise import Exercise
from autograder.exercises import all_exercises
from autograder.marking.in_process import trials_of

pytestmark = pytest.mark.slow

FORGERIES = 12


def test_there_is_a_kind_for_every_exercise():
    assert sum(map(len, judge_fuzz.kinds().values())) == len(all_exercises())


def after_its_unit(exercise: Exercise) -> str:
    """The parameter begins with the unit, in whose process samples have been observed already."""
    return f"{exercise.unit}-{exercise.id}"


@pytest.mark.parametrize("exercise", all_exercises().values(), ids=after_its_unit)
def test_no_judge_raises_on_forged_observations(exercise):
    chance = random.Random(exercise.id)
    trials, known = trials_of(exercise, 0), judge_fuzz.bases(exercise, most=2)
    for _ in range(FORGERIES):
        assert judge_fuzz.judge(exercise, trials, judge_fuzz.forged(chance, chance.choice(known))) == ""
