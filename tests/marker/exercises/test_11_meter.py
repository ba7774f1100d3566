"""Meters are judged by what they report; wrong ones differ from right ones on the runs the marker uses."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.contract.observation import Observation
from autograder.exercises import all_exercises
from autograder.exercises.unit_11_running_it.judging.meter import due, reported, same
from autograder.exercises.unit_11_running_it.judging.wrong_meters import WRONG
from autograder.exercises.unit_11_running_it.observing.meter import KEYS, observe_meter
from autograder.marking.in_process import judge_observations, mark_function

pytestmark = pytest.mark.slow

EXERCISE = all_exercises()["RunMeter"]


class Meter:
    def __init__(self, clock):
        self.clock, self.began, self.seen = clock, clock(), []

    def micro_batch(self, loss, samples):
        self.seen.append((loss.item(), samples))

    def update(self, lr):
        began, self.began, seen, self.seen = self.began, self.clock(), self.seen, []
        samples = sum(n for _, n in seen)
        loss = sum(value * n for value, n in seen) / samples
        speed = samples / (self.began - began)
        return {"loss": loss, "samples_per_second": speed, "effective_batch": samples, "lr": lr}


@given(st.integers(-(2**40), 2**40))
def test_right_meter_reports_the_numbers_due(seed):
    for trial in EXERCISE.trials(seed, "cpu").values():
        seen = observe_meter(Meter, trial)
        assert seen.facts["kept"] == 0
        assert all(same(reported(seen, key), due(trial)[key]) for key in KEYS)


@given(st.integers(-(2**40), 2**40))
def test_wrong_meters_differ_from_right_ones_and_from_each_other(seed):
    trials = EXERCISE.trials(seed, "cpu").values()
    for key, wrong in WRONG.items():
        formulas = [("right", lambda trial, key=key: due(trial)[key])]
        formulas += [(slug, one) for slug, alike in wrong.items() for one in alike]
        for (slug, one), (other_slug, other) in itertools.combinations(formulas, 2):
            differ = any(not same(one(trial), other(trial)) for trial in trials)
            assert differ or slug == other_slug, (key, slug, other_slug)


def test_meter_that_keeps_losses_keeps_their_graphs():
    class Keeper(Meter):
        def micro_batch(self, loss, samples):
            super().micro_batch(loss, samples)
            self.kept = [*getattr(self, "kept", []), loss]

    trial = EXERCISE.trials(0, "cpu")["even"]
    assert observe_meter(Keeper, trial).facts["kept"] == sum(map(len, trial.windows))


@pytest.mark.parametrize(
    "report",
    [None, {}, [], "loss", {"loss": "1"}, dict.fromkeys(KEYS), dict.fromkeys(KEYS, float("nan")), dict.fromkeys(KEYS, True)],
    ids=repr,
)
def test_malformed_reports_earn_nothing(report):
    class Liar(Meter):
        def update(self, lr):
            return report

    assert mark_function(EXERCISE, Liar).score == 0


@pytest.mark.parametrize("facts", [{}, {"reports": 3}, {"reports": [{}, 4]}, {"reports": [], "kept": "none"}], ids=repr)
def test_forged_reports_earn_nothing_and_raise_no_error(facts):
    trials = EXERCISE.trials(0, "cpu")
    verdict = judge_observations(EXERCISE, trials, dict.fromkeys(trials, Observation(facts=facts)))
    assert verdict.score == 0


def test_missing_graph_count_does_not_pass_as_no_graphs():
    trials = EXERCISE.trials(0, "cpu")
    seen = {name: observe_meter(Meter, trial) for name, trial in trials.items()}
    forged = {name: Observation(facts=one.facts | {"kept": None}) for name, one in seen.items()}
    assert not EXERCISE.judge(trials, forged).passed
    assert EXERCISE.judge(trials, seen).passed
