"""Mistakes named in a training loop reproduce its numbers: a loop that makes just these moves the parameters alike."""

from __future__ import annotations

from functools import cache

import pytest
from replays import reproduces
from samples import SAMPLES, observe_once

from autograder.diagnosing.loop_diagnosis import diagnose
from autograder.exercises import all_exercises
from autograder.marking.in_process import trials_of
from autograder.observing.loops import LoopTrial

LOOPS = {"train_epoch": 100, "train_epoch_clipped": 10}
"""Exercises whose probe is a loop with frozen parameters, and how many of their samples at least have a mistake in it."""


@cache
def probe_of(exercise: str) -> LoopTrial:
    trial = trials_of(all_exercises()[exercise], 0)["probe"]
    return getattr(trial, "loop", trial)


def begins_with_unit(exercise: str) -> str:
    """A parameter's name, by which a test runs in the process in which the unit's samples have been observed already."""
    return f"{all_exercises()[exercise].unit}-{exercise}"


@pytest.mark.slow
@pytest.mark.parametrize("exercise", LOOPS, ids=begins_with_unit)
def test_every_mistake_named_in_a_loop_reproduces_its_updates(exercise):
    trial, unproven, proven = probe_of(exercise), [], 0
    for sample in (sample for sample in SAMPLES if sample.exercise == exercise):
        seen = observe_once(sample)["probe"]
        slugs = set() if seen.failure else set(diagnose(trial, seen).slugs)
        if slugs and not reproduces(slugs, trial, seen):
            unproven.append((sample.path.stem, sorted(slugs)))
        proven += bool(slugs)
    assert unproven == []
    assert proven >= LOOPS[exercise]


def test_another_mistake_does_not_reproduce_the_updates_of_a_loop():
    seen = observe_once(next(s for s in SAMPLES if s.exercise == "train_epoch" and s.mistakes == ("zero-every",)))["probe"]
    found = [
        s for s in ("zero-every", "no-scale", "step-every", "tail-dropped") if reproduces({s}, probe_of("train_epoch"), seen)
    ]
    assert found == ["zero-every"]
