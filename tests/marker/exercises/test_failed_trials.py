"""What is said of a function that is right wherever it ran to its end, and raised an error or took too long elsewhere."""

from __future__ import annotations

import random

import pytest
from samples import ACCEPTED, SAMPLES, judge, observe_once

from autograder.contract.observation import Failure, Observation
from autograder.exercises import all_exercises

pytestmark = pytest.mark.slow

RIGHT = {sample.exercise: sample for sample in reversed(SAMPLES) if sample.kind == ACCEPTED}

SAYS_SOMETHING = {
    ("load_checkpoint", "saving"): "an error while a half-written file is loaded is what an overwritten checkpoint leads to",
    ("accumulate_contrastive", "ragged"): "another trial gives the same micro-batches in a list",
}
"""Trials whose failure shows a mistake, and why."""

FAILURES = (Failure("raised", "Your code raised KeyError: 'x' (line 3)."), Failure("time", "Your code was still running."))


@pytest.mark.parametrize("exercise", all_exercises())
def test_a_name_does_not_rest_on_right_results_alone(exercise):
    seen, chance = observe_once(RIGHT[exercise]), random.Random(0)
    names = [name for name in seen if (exercise, name) not in SAYS_SOMETHING]
    choices = [{name} for name in names] + [set(names) - {name} for name in names[1:]]
    choices += [set(chance.sample(names, chance.randint(1, len(names)))) for _ in range(4)]
    for failed in filter(None, choices):
        failure = chance.choice(FAILURES)
        given = {name: Observation(failure=failure) if name in failed else one for name, one in seen.items()}
        verdict = judge(RIGHT[exercise], given, 0)
        assert not verdict.mistakes, (failed, verdict)
        assert not verdict.remark, (failed, verdict)


def test_a_wrong_result_beside_a_failure_is_still_named():
    (sample,) = (one for one in SAMPLES if one.path.stem == "saved_bytes_in_evaluation_mode")
    seen = observe_once(sample)
    given = dict(seen) | {"gated": Observation(failure=FAILURES[0])}
    assert [mistake.slug for mistake in judge(sample, given, 0).mistakes] == ["eval-mode"]
