"""What is said of a plan is true of the function that made it."""

from __future__ import annotations

import pytest

from autograder.exercises import all_exercises
from autograder.exercises.unit_11_running_it.judging.plans import plan
from autograder.judging.calls import RAISES
from autograder.marking.in_process import mark_function

EXERCISE = all_exercises()["plan_run"]


def planned(*call):
    """The right plan."""
    if (due := plan(*call)) is RAISES:
        raise ValueError("there is none")
    return due


@pytest.mark.parametrize("value", [None, "4", range(4), [4]])
def test_a_plan_with_an_entry_that_is_not_an_integer_is_judged_all_the_same(value):
    said = str(mark_function(EXERCISE, lambda *call: planned(*call) | {"effective_batch": value}))
    assert "Your plan holds no integer under 'effective_batch'." in said
    assert "no dictionary" not in said


def test_a_function_that_refuses_primes_finds_plans_of_many_steps():
    def plan_run(batch, budget, fixed, per_sample, ranks):
        due, share = planned(batch, budget, fixed, per_sample, ranks), batch // ranks
        if due["accumulation_steps"] > 1 and all(share % size for size in range(2, share)):
            raise ValueError("a prime")
        return due

    verdict = mark_function(EXERCISE, plan_run)
    assert not verdict.passed
    assert "very many steps" not in str(verdict)


def test_a_function_that_refuses_some_misfits_is_not_said_to_refuse_none():
    def plan_run(batch, budget, fixed, per_sample, ranks):
        return planned(batch, max(budget, fixed + per_sample) if budget < fixed else budget, fixed, per_sample, ranks)

    verdict = mark_function(EXERCISE, plan_run)
    assert [result.part.name for result in verdict.results if not result.passed] == ["refusal"]
    assert not verdict.mistakes
