"""On the calls that are marked, lines and plans that mistakes give differ from the right ones and from each other."""

from __future__ import annotations

import itertools
import math

import pytest

from autograder.exercises import all_exercises
from autograder.exercises.unit_02_memory_limits.judging.lines import WRONG_LINES, least_squares, squares
from autograder.exercises.unit_02_memory_limits.judging.plans import WRONG_PLANS, plan
from autograder.judging.calls import RAISES, same_value
from autograder.marking.in_process import mark_function

SEEDS = range(8)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("slug", WRONG_LINES)
def test_every_wrong_line_is_far_from_the_least_squares_on_some_points(slug, seed):
    calls = [trial.arguments for trial in all_exercises()["memory_line"].trials(seed, "cpu").values()]
    for formula in WRONG_LINES[slug]:
        assert any(not same_value(list(formula(*call)), list(least_squares(*call)), 0.02) for call in calls)


@pytest.mark.parametrize("part", ["largest", "full"])
@pytest.mark.parametrize("seed", SEEDS)
def test_plans_of_no_two_mistakes_are_the_same_on_all_calls_of_a_part(seed, part):
    trials = all_exercises()["plan_micro_batches"].trials(seed, "cpu")
    calls = [trial.arguments for name, trial in trials.items() if name.startswith(part)]
    slugs = ("fixed-forgotten", "halves-only", "fixed-for-each", "whole-batch-or-nothing")
    formulas = [("", plan), *((slug, formula) for slug in slugs for formula in WRONG_PLANS[slug])]
    plans = [(slug, [formula(*call) for call in calls]) for slug, formula in formulas]
    pairs = itertools.combinations(plans, 2)
    assert all(one != other for (slug, one), (another, other) in pairs if slug != another)


@pytest.mark.parametrize("seed", SEEDS)
def test_right_plan_fits_divides_and_cannot_be_larger(seed):
    for name, trial in all_exercises()["plan_micro_batches"].trials(seed, "cpu").items():
        effective, budget, fixed, per_sample = trial.arguments
        right = plan(*trial.arguments)
        fitting = [b for b in range(1, effective + 1) if effective % b == 0 and fixed + per_sample * b <= budget]
        assert (right is RAISES) == (not fitting) == name.startswith("none")
        if fitting:
            assert right == (max(fitting), effective // max(fitting))
            assert (fixed + per_sample * right[0] == budget) == name.startswith("full")


def test_squares_that_are_too_large_for_a_float_are_infinite():
    assert squares((1e300, 0.0), [1.0, 2.0], [3.0, 4.0]) == math.inf


def test_of_points_on_a_line_no_squares_are_said_to_be_left():
    def memory_line(sizes, measured):
        return least_squares(sizes, [points % 2**31 for points in measured])

    assert "where 0 is possible" in str(mark_function(all_exercises()["memory_line"], memory_line))


def test_floats_are_not_said_to_be_right_where_a_plan_is_wrong():
    def plan_micro_batches(effective, budget, fixed, per_sample):
        sizes = [b for b in range(1, effective + 1) if effective % b == 0 and b <= (budget - fixed) / per_sample]
        if not sizes:
            raise ValueError("not even one sample fits")
        return sizes[-1], effective / sizes[-1]

    verdict = mark_function(all_exercises()["plan_micro_batches"], plan_micro_batches)
    assert [mistake.slug for mistake in verdict.mistakes] == ["not-whole"]
    assert " right" not in str(verdict)


def test_a_negative_fixed_part_that_is_only_checked_wrongly_is_not_said_to_count_as_positive():
    def plan_micro_batches(effective, budget, fixed, per_sample):
        if abs(fixed) >= budget or (right := plan(effective, budget, fixed, per_sample)) is RAISES:
            raise ValueError("the fixed part is too much")
        return right

    verdict = mark_function(all_exercises()["plan_micro_batches"], plan_micro_batches)
    assert not verdict.passed
    assert "as a positive one" not in str(verdict)
