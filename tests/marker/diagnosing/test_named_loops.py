"""Mistakes named in a training loop reproduce its numbers: a loop that makes just these moves the parameters alike."""

from __future__ import annotations

from functools import cache

import pytest
from replays import reproduces
from samples import SAMPLES, Sample, load

from autograder.contract.observation import Observation
from autograder.diagnosing.loop_diagnosis import diagnose
from autograder.exercises import all_exercises
from autograder.isolation.limits import Limits
from autograder.isolation.worker import observe_exercise
from autograder.marking.in_process import trials_of
from autograder.observing.loops import LoopTrial

LOOPS = {"train_epoch": 100, "train_epoch_clipped": 10}
"""Exercises whose probe is a loop with frozen parameters, and how many of their samples at least have a mistake in it."""


@cache
def probe_of(exercise: str) -> LoopTrial:
    trial = trials_of(all_exercises()[exercise], 0)["probe"]
    return getattr(trial, "loop", trial)


def observed(sample: Sample) -> Observation:
    trials = {"probe": trials_of(all_exercises()[sample.exercise], 0)["probe"]}
    return observe_exercise(sample.unit, sample.exercise, trials, load(sample), Limits(trial=3.0))["probe"]


@pytest.mark.slow
@pytest.mark.parametrize("exercise", LOOPS)
def test_every_mistake_named_in_a_loop_reproduces_its_updates(exercise):
    trial, unproven, proven = probe_of(exercise), [], 0
    for sample in (sample for sample in SAMPLES if sample.exercise == exercise):
        seen = observed(sample)
        slugs = set() if seen.failure else set(diagnose(trial, seen).slugs)
        if slugs and not reproduces(slugs, trial, seen):
            unproven.append((sample.path.stem, sorted(slugs)))
        proven += bool(slugs)
    assert unproven == []
    assert proven >= LOOPS[exercise]


def test_another_mistake_does_not_reproduce_the_updates_of_a_loop():
    seen = observed(next(s for s in SAMPLES if s.exercise == "train_epoch" and s.mistakes == ("zero-every",)))
    found = [
        s for s in ("zero-every", "no-scale", "step-every", "tail-dropped") if reproduces({s}, probe_of("train_epoch"), seen)
    ]
    assert found == ["zero-every"]
