"""A function that looks up its answer by one of its arguments and forgets the others does not get full marks.

Arguments that cannot be looked up, such as lists, are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from samples import SAMPLES, load

from autograder.contract.exercise import Exercise
from autograder.exercises import all_exercises
from autograder.judging.calls import REMEMBERED
from autograder.marking.in_process import mark_function, trials_of
from autograder.observing.calls import CallTrial


def plain_calls(exercise: Exercise) -> list[CallTrial]:
    trials = list(trials_of(exercise, 0, "cpu").values())
    return trials if all(isinstance(trial, CallTrial) for trial in trials) else []


KEYS = [
    pytest.param(id, position, id=f"{id}-{position}")
    for id, exercise in all_exercises().items()
    if (calls := plain_calls(exercise)) and (count := min(len(call.arguments) for call in calls)) > 1
    for position in range(count)
    if not any(isinstance(call.arguments[position], list) for call in calls)
]


def looked_up(exercise: str, position: int) -> Callable:
    """A right function, except that it looks up its answer by one argument."""
    (answer,) = (sample for sample in SAMPLES if sample.exercise == exercise and sample.is_answer)
    right, known = getattr(load(answer).module, exercise), {}

    def function(*arguments: Any, **keywords: Any) -> Any:
        key = repr(arguments[position])
        if key not in known:
            known[key] = right(*arguments, **keywords)
        return known[key]

    return function


def test_function_that_looks_up_plans_by_the_batch_is_told_that_its_answers_were_due_before():
    assert mark_function(all_exercises()["plan_run"], looked_up("plan_run", 0), 0).remark.endswith(REMEMBERED)


@pytest.mark.slow
@pytest.mark.parametrize(("exercise", "position"), KEYS)
@pytest.mark.parametrize("seed", range(3))
def test_function_that_looks_up_its_answer_by_one_argument_loses_points(exercise, position, seed):
    assert not mark_function(all_exercises()[exercise], looked_up(exercise, position), seed).passed
