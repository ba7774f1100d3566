"""Exercises, their parts and their verdicts."""

from __future__ import annotations

import re

import pytest
import torch

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Failure, Observation
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part
from autograder.exercises import all_exercises, exercises_of
from autograder.judging.schemas import call_schema
from autograder.marking.in_process import judge_observations, mark_function
from autograder.observing.calls import CallTrial
from autograder.observing.trials import observe_trials
from gradaccum.diagnosis.catalogue import CATALOGUE, add_mistake, mistake

EVERY_EXERCISE = pytest.mark.parametrize("exercise", all_exercises().values(), ids=lambda exercise: exercise.id)
SEEDS = (0, -3, 2**63 + 11)


class Doubling(Exercise):
    """``doubling(x)``: twice as much."""

    id = "doubling"
    unit = "99_test"
    parts = (Part("small", "small numbers", 1), Part("large", "large numbers", 2.5))

    def trials(self, seed, device):
        return {"small": seed, "large": 1000 + seed}

    def judge(self, trials, observations):
        results = {}
        for name, trial in trials.items():
            seen = observations[name]
            right = not seen.failure and seen.facts["value"] == 2 * trial
            results[name] = "" if right else seen.failure.message if seen.failure else "Not twice as much."
        return self.verdict(results)


def observe_value(function, trial):
    return Observation(facts={"value": function(trial)})


@pytest.fixture
def schema_of_doubling(monkeypatch):
    """Doubling is in no unit's folder, where schemas are looked for."""
    monkeypatch.setattr("autograder.marking.in_process.schemas_of", lambda unit: {"doubling": call_schema})


def verdict_of(function, seed=1):
    exercise = Doubling()
    trials = exercise.trials(seed, "cpu")
    return judge_observations(exercise, trials, observe_trials(observe_value, function, trials))


@pytest.mark.usefixtures("schema_of_doubling")
def test_right_function_gets_all_points():
    verdict = verdict_of(lambda x: 2 * x)
    assert (verdict.score, verdict.max_score, verdict.passed) == (3.5, 3.5, True)


@pytest.mark.usefixtures("schema_of_doubling")
def test_points_are_given_part_by_part():
    verdict = verdict_of(lambda x: 2 * x if x < 100 else x)
    assert (verdict.score, verdict.passed) == (1, False)
    assert [result.message for result in verdict.results] == ["", "Not twice as much."]


@pytest.mark.usefixtures("schema_of_doubling")
def test_trial_that_raises_costs_only_the_points_of_its_part():
    verdict = verdict_of(lambda x: 2 * x if x < 100 else 1 / 0)
    assert verdict.score == 1
    assert "ZeroDivisionError" in verdict.results[1].message
    assert not verdict.failure_everywhere


def test_trials_are_announced_before_they_are_run():
    announced = []
    observe_trials(observe_value, announced.append, Doubling().trials(1, "cpu"), before=announced.append)
    assert announced == ["small", 1, "large", 1001]


def test_verdict_without_a_message_for_every_part_is_an_error():
    with pytest.raises(KeyError):
        Doubling().verdict({"small": ""})


def test_failed_verdict_has_no_points_and_says_why_once():
    verdict = Doubling().failed(Failure("missing", "There is no such function."))
    assert verdict.score == 0
    assert verdict.failure_everywhere
    assert str(verdict).count("There is no such function.") == 1


def test_two_exercises_with_the_same_id_are_an_error(monkeypatch):
    monkeypatch.setattr("autograder.exercises.exercises_of", lambda unit: (all_exercises()["train_epoch"],))
    with pytest.raises(ValueError, match="two exercises are called 'train_epoch'"):
        all_exercises.__wrapped__()


def test_exercises_are_in_the_order_of_the_course():
    units = [exercise.unit for exercise in all_exercises().values()]
    assert units == sorted(units)
    assert [exercise.id for exercise in exercises_of("03_accumulate")] == ["accumulate_gradient", "sum_form_lr", "same_update"]
    assert exercises_of("no_such_unit") == ()


@pytest.mark.parametrize("unit", sorted({exercise.unit for exercise in all_exercises().values()} - {"00_start_here"}))
def test_unit_is_worth_ten_points_and_the_capstone_twenty(unit):
    assert sum(exercise.max_score for exercise in exercises_of(unit)) == (20 if unit == "12_capstone" else 10)


def test_random_choices_depend_only_on_exercise_and_seed():
    assert trial_random("a", 1).random() == trial_random("a", 1).random()
    assert trial_random("a", 1).random() != trial_random("a", 2).random()
    assert trial_random("a", 1).random() != trial_random("b", 1).random()


@EVERY_EXERCISE
def test_trials_are_the_same_for_the_same_seed(exercise):
    for seed in SEEDS:
        assert repr(exercise.trials(seed, "cpu")) == repr(exercise.trials(seed, "cpu"))


def is_called_without_arguments(exercise: Exercise) -> bool:
    """Whether an exercise's function takes nothing that could differ from seed to seed."""
    return all(trial in (None, CallTrial()) for trial in exercise.trials(0, "cpu").values())


@EVERY_EXERCISE
def test_other_seeds_give_other_trials(exercise):
    different = {repr(exercise.trials(seed, "cpu")) for seed in range(10)}
    assert len(different) == 1 if is_called_without_arguments(exercise) else len(different) > 5


def slow_but_in_first_units(exercise: Exercise):
    quick = exercise.unit[:2] in ("00", "03", "04")
    return pytest.param(exercise, id=exercise.id, marks=[] if quick else [pytest.mark.slow])


@pytest.mark.parametrize("exercise", [*map(slow_but_in_first_units, all_exercises().values())])
def test_marking_leaves_the_random_state_of_the_notebook_alone(exercise):
    def wrong(*arguments, **keywords):
        torch.rand(3)

    before = torch.get_rng_state()
    mark_function(exercise, wrong)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("slug", CATALOGUE)
def test_mistake_says_what_is_computed_and_gives_a_hint(slug):
    entry = mistake(slug)
    assert entry.slug == slug
    assert entry.message[-1] in ".?"
    assert "\n" not in entry.message + entry.hint
    assert entry.hint[-1] in ".?"
    assert len(entry.message) < 250
    assert not re.search(r"\w\.\w+\(", entry.hint), "a hint does not give the line away"


def test_unknown_mistake_is_an_error():
    with pytest.raises(KeyError):
        mistake("no-such-mistake")


def test_entering_a_mistake_twice_is_an_error():
    with pytest.raises(ValueError, match="no-scale"):
        add_mistake("no-scale", "Again.", "Again?")
