"""Observations of the capstone's functions are believed only as far as their numbers go."""

from __future__ import annotations

import io
import os

import pytest
import torch

from autograder.contract.observation import Observation
from autograder.exercises import all_exercises, exercises_of
from autograder.exercises.unit_12_capstone.judging.messages import resume_message
from autograder.exercises.unit_12_capstone.judging.references import ceiling_of, run_due
from autograder.exercises.unit_12_capstone.observing import observe_run, observe_windows
from autograder.isolation import wire
from autograder.marking.in_process import judge_observations, mark_function, observe_function, trials_of
from autograder.showing.verdict_html import as_html, as_text
from gradaccum.capstone import variants
from gradaccum.capstone.run import History

pytestmark = pytest.mark.slow

UNIT = exercises_of("12_capstone")
NAMES = [exercise.id for exercise in UNIT]
NAN = float("nan")
FACTS = [
    {},
    {"value": "48"},
    {"value": [8]},
    {"value": NAN},
    {"raised": 3, "reason": []},
    {"history": 7, "built": "yes", "training": 3, "peak_bytes": "none", "written": 1},
    {"history": {"losses": [NAN], "norms": ["x"], "rates": None, "tokens": [True]}, "built": -1},
    {"history": {"losses": [NAN], "norms": [NAN], "rates": [NAN], "tokens": [NAN]}, "built": 1, "written": True},
    {"history": {"losses": [], "norms": [], "rates": [], "tokens": []}, "built": 1, "written": True, "stopped": [3]},
    {"history": {"losses": [1e400] * 3, "norms": [1] * 3, "rates": [0] * 2, "tokens": []}, "peak_bytes": -5, "type": {}},
]
TENSORS = [
    {},
    {"final": torch.ones(3), "rows": torch.ones(3, 3), "stopped": torch.ones(2)},
    {"final": torch.tensor(1.0), "rows": torch.tensor(2.0)},
    {"final": torch.full((10,), NAN), "rows": torch.empty(0, 0)},
    {"final": torch.ones(5, dtype=torch.int64), "rows": torch.ones(2, 5, dtype=torch.bool)},
]


def lost(verdict) -> set[str]:
    return {result.part.name for result in verdict.results if not result.passed}


def test_a_whole_model_can_be_saved_and_loaded_while_it_is_observed():
    trial = next(iter(all_exercises()["train_window"].trials(0, "cpu").values()))
    loaded = []

    def save(run, window, max_norm):
        file = io.BytesIO()
        torch.save(run.model, file)
        file.seek(0)
        model = torch.load(file, weights_only=False)
        loaded.append(torch.equal(model(window[0][0]), run.model(window[0][0])))

    observe_windows(save, trial)
    assert loaded
    assert all(loaded)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("facts", FACTS)
def test_forged_observations_do_not_pass_and_raise_no_error(name, facts):
    for tensors in TENSORS:
        observations = dict.fromkeys(all_exercises()[name].trials(0, "cpu"), Observation(tensors, facts))
        verdict = judge_observations(all_exercises()[name], trials_of(all_exercises()[name], 0, "cpu"), observations)
        assert not verdict.passed
        assert as_text(verdict)
        assert as_html(verdict)


def test_weights_of_another_dtype_or_shape_or_with_nan_earn_nothing():
    exercise = all_exercises()["train"]
    seen = observe_function(exercise, variants.train, trials_of(exercise, 0, "cpu"))
    for change in (lambda t: t.long(), lambda t: t.clone().fill_(NAN), lambda t: t[:-1], lambda t: t[None]):
        forged = {k: Observation({n: change(t) for n, t in o.tensors.items()}, o.facts) for k, o in seen.items()}
        assert judge_observations(exercise, trials_of(exercise, 0, "cpu"), forged).score == 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [None, 7, "text", NAN, [], {}, History(), torch.ones(3), object()])
def test_a_function_gets_a_verdict_whatever_it_returns(name, value):
    verdict = mark_function(all_exercises()[name], lambda *arguments: value)
    assert not verdict.passed
    assert verdict.score <= 1 or name != "train"


def test_history_of_another_run_earns_nothing():
    def train(config):
        history = variants.train(config.with_(watch=None, seed=config.seed + 1))
        config.build()
        return history

    assert mark_function(all_exercises()["train"], train).score == 0


def test_the_first_update_of_which_a_resumed_run_says_something_else_is_told():
    def train(config):
        history = variants.train(config)
        history.rates[4] *= 2
        history.losses[3] *= 2
        return history

    trial = all_exercises()["train"].trials(0, "cpu")["resume"]
    seen, due = observe_run(train, trial), run_due(trial)
    moved = Observation({**seen.tensors, "final": seen.tensors["final"] + 1}, seen.facts)
    said = resume_message(trial, moved, due)
    assert "In its history, the loss of update 4 is" in said


def test_forged_history_costs_only_the_report_part():
    def train(config):
        history = variants.train(config)
        history.losses[-1] *= 1.01
        return history

    assert lost(mark_function(all_exercises()["train"], train)) == {"report"}


def test_a_history_with_something_that_is_not_a_number_is_not_believed():
    def train(config):
        history = variants.train(config)
        history.norms = object()
        return history

    assert lost(mark_function(all_exercises()["train"], train)) == {"resume", "report"}


def test_a_file_that_was_not_there_to_go_on_from_is_not_taken_for_a_removed_one():
    def train(config):
        history = variants.train(config)
        if config.stop_after == 9:
            os.remove(config.checkpoint)
        return history

    assert not observe_run(train, all_exercises()["train"].trials(0, "cpu")["resume"]).facts["left"]


def test_observations_survive_the_transport_between_processes():
    for exercise, function in zip(UNIT[1:], (variants.train_window, variants.train), strict=True):
        seen = observe_function(exercise, function, trials_of(exercise, 0, "cpu"))
        arrived = wire.decode(wire.encode(seen), list(seen))
        assert judge_observations(exercise, trials_of(exercise, 0, "cpu"), arrived).passed


def test_what_the_marker_keeps_is_not_counted_among_the_bytes_of_a_run():
    trial = all_exercises()["train"].trials(0, "cpu")["budget"]
    many = observe_run(lambda config: variants.train(config, variants.RunVariant(step="every", weight="mean")), trial)
    few = run_due(trial)
    assert many.tensors["rows"].shape[0] > 3 * few.tensors["rows"].shape[0]
    assert many.facts["peak_bytes"] <= 1.05 * few.facts["peak_bytes"] <= ceiling_of(trial.config)


def test_a_large_batch_shows_in_the_weights_whatever_bytes_are_reported():
    exercise = all_exercises()["train"]
    seen = observe_function(exercise, variants.large_batches, trials_of(exercise, 0, "cpu"))
    seen["budget"] = Observation(seen["budget"].tensors, seen["budget"].facts | {"peak_bytes": 1000})
    verdict = judge_observations(exercise, trials_of(exercise, 0, "cpu"), seen)
    assert lost(verdict) == {"budget", "resume"}
    assert "one-big-batch" in [mistake.slug for mistake in verdict.mistakes]


def test_marking_a_run_leaves_no_file_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mark_function(all_exercises()["train"], variants.train)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("seed", [0, 1, 2, 12345, -7, 2**40])
def test_the_reference_is_right_on_every_seed(seed):
    for exercise, function in zip(UNIT[1:], (variants.train_window, variants.train), strict=True):
        verdict = mark_function(exercise, function, seed)
        assert verdict.passed, str(verdict)
