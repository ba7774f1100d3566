"""Resumed runs are judged by numbers, whatever the submission claims, and what is forgotten has a name."""

from __future__ import annotations

import os
import types

import pytest
import torch

from autograder.contract.observation import Observation
from autograder.exercises import all_exercises
from autograder.exercises.unit_11_running_it import exercises  # noqa: F401 - registers the exercise
from autograder.exercises.unit_11_running_it.judging.resuming import (
    TRAINED_WHILE_LOADING,
    boundary,
    forgotten,
    resumed_message,
)
from autograder.exercises.unit_11_running_it.observing.resuming import digests
from autograder.marking.in_process import mark_function, observe_function, trials_of
from gradaccum.resuming import PIECES, put_state, state_of

pytestmark = pytest.mark.slow

EXERCISE = all_exercises()["load_checkpoint"]


def submission(save, load):
    """Two functions as they stand in one notebook: load finds save among its globals."""
    namespace = {**load.__globals__, "save_checkpoint": save, "FILE": {}}
    return types.FunctionType(load.__code__, namespace, "load_checkpoint", load.__defaults__, load.__closure__)


def save_checkpoint(path, run):
    if not run.window_open:
        torch.save(state_of(run), path + ".new")
        os.replace(path + ".new", path)


def load_checkpoint(path, run):
    if os.path.exists(path):
        put_state(run, torch.load(path))


RIGHT = submission(save_checkpoint, load_checkpoint)


def lacking(*pieces):
    def load(path, run):
        if os.path.exists(path):
            put_state(run, torch.load(path), forget=pieces)

    return submission(save_checkpoint, load)


@pytest.mark.parametrize("seed", [0, 8, 2**40, -3])
def test_right_save_and_load_earn_every_point(seed):
    verdict = mark_function(EXERCISE, RIGHT, seed=seed)
    assert verdict.passed
    assert not verdict.mistakes


@pytest.mark.parametrize("piece", PIECES)
def test_missing_piece_of_state_is_named_and_costs_the_updates_part(piece):
    verdict = mark_function(EXERCISE, lacking(piece), seed=2)
    named = {"scheduler": "schedule"}.get(piece, piece)
    assert [mistake.slug for mistake in verdict.mistakes] == [f"state-missing-{named}"]
    assert "updates" in {result.part.name for result in verdict.results if not result.passed}


def test_at_most_three_forgotten_pieces_are_named():
    verdict = mark_function(EXERCISE, lacking(*PIECES[1:]), seed=2)
    assert len(verdict.mistakes) == 3


def test_training_everything_again_gives_the_right_numbers_but_is_not_resuming():
    verdict = mark_function(EXERCISE, submission(lambda path, run: None, lambda path, run: None), seed=1)
    assert {result.part.name for result in verdict.results if result.passed} == set()
    assert [mistake.slug for mistake in verdict.mistakes] == ["nothing-restored"]


def test_checkpoint_kept_in_memory_does_not_survive_a_kill():
    def save(path, run):
        if not run.window_open:
            FILE[path] = state_of(run)

    def load(path, run):
        if path in FILE:
            put_state(run, FILE[path])

    FILE = {}
    verdict = mark_function(EXERCISE, submission(save, load), seed=1)
    assert verdict.score == 0
    assert [mistake.slug for mistake in verdict.mistakes] == ["checkpoint-in-memory"]


def test_a_file_written_in_place_can_be_torn_and_one_that_is_replaced_cannot():
    def save(path, run):
        if not run.window_open:
            torch.save(state_of(run), path)

    verdict = mark_function(EXERCISE, submission(save, load_checkpoint), seed=1)
    assert [result.part.name for result in verdict.results if not result.passed] == ["saving"]
    assert [mistake.slug for mistake in verdict.mistakes] == ["checkpoint-overwritten"]


def test_a_missing_save_checkpoint_is_given_as_the_reason():
    lonely = types.FunctionType(load_checkpoint.__code__, {"os": os, "torch": torch, "put_state": put_state}, "load_checkpoint")
    verdict = mark_function(EXERCISE, lonely, seed=1)
    assert verdict.score == 0
    assert verdict.failure.message == "There is no function called save_checkpoint."


def forged(trial, tensors, facts):
    return resumed_message(trial, Observation(tensors, facts)), forgotten(trial, Observation(tensors, facts))


def test_forged_resumed_runs_earn_nothing_and_raise_no_error():
    trials = trials_of(EXERCISE, 3)
    honest = observe_function(EXERCISE, RIGHT, trials)["updates"].tensors
    trial = trials["updates"]
    assert resumed_message(trial, Observation(honest, {})) == ""
    for tensors in (
        {},
        {name: tensor + 1e-12 for name, tensor in honest.items()},
        {name: tensor[None] for name, tensor in honest.items()},
        {name: tensor.float() for name, tensor in honest.items()},
        {name: torch.full_like(tensor, torch.nan) for name, tensor in honest.items()},
        {name: tensor for name, tensor in honest.items() if name != "losses 1"},
        honest | {"losses 1": honest["losses 0"]},
        honest | {"end 1": torch.tensor([1, 2])},
    ):
        for facts in ({}, {"pieces": None}, {"pieces": [1] * len(trial.kills)}, {"pieces": [{"model": {}}] * len(trial.kills)}):
            message, slugs = forged(trial, tensors, facts)
            assert message
            assert isinstance(slugs, list)


def test_checkpoint_due_is_that_of_the_last_update_before_the_kill():
    trials = EXERCISE.trials(0, "cpu")
    window, saving = trials["window"], trials["saving"]
    assert all(boundary(window, kill) < kill for kill in window.kills)
    assert all(boundary(saving, kill) < kill and not saving.problem.is_open(kill) for kill in saving.kills)
    assert set(trials["updates"].kills) == set(trials["updates"].problem.boundaries()) - {0}


def test_a_window_whose_gradients_are_back_is_not_named_with_what_was_forgotten():
    def save(path, run):
        torch.save((state_of(run), [p.grad for p in run.model.parameters()]), path)

    def load(path, run):
        if os.path.exists(path):
            state, gradients = torch.load(path)
            put_state(run, state, forget=("optimizer",))
            for parameter, gradient in zip(run.model.parameters(), gradients, strict=True):
                parameter.grad = gradient

    verdict = mark_function(EXERCISE, submission(save, load), seed=1)
    assert [mistake.slug for mistake in verdict.mistakes] == ["state-missing-optimizer"]


def test_loading_may_train_on_what_comes_after_the_last_update_and_on_nothing_before():
    def save(path, run):
        state = torch.load(path)["state"] if run.window_open and os.path.exists(path) else state_of(run)
        if os.path.exists(path) or not run.window_open:
            torch.save({"state": state, "position": run.position}, path + ".new")
            os.replace(path + ".new", path)

    def load(path, run):
        if os.path.exists(path):
            saved = torch.load(path)
            put_state(run, saved["state"])
            while run.position < saved["position"]:
                run.train_micro_batch()

    verdict = mark_function(EXERCISE, submission(save, load), seed=1)
    assert verdict.passed, str(verdict)

    def load_late(path, run):
        if os.path.exists(path):
            state = torch.load(path)
            while run.position < state["position"]:
                run.train_micro_batch()
            put_state(run, state)

    verdict = mark_function(EXERCISE, submission(save_checkpoint, load_late), seed=1)
    assert {result.message for result in verdict.results if result.part.name != "saving"} == {"", TRAINED_WHILE_LOADING}


def save_by_countdown(path, run):
    if not run.window_open:
        torch.save(state_of(run), path + ".new")
        os.replace(path + ".new", f"{path}-{1000 - run.position:04}")


def load_newest(path, run):
    folder = os.path.dirname(path)
    if files := [os.path.join(folder, name) for name in os.listdir(folder) if not name.endswith(".new")]:
        put_state(run, torch.load(max(files, key=os.path.getmtime)))


def test_the_newest_file_is_told_by_its_time_whatever_its_name():
    verdict = mark_function(EXERCISE, submission(save_by_countdown, load_newest))
    assert verdict.passed, str(verdict)


def test_weights_that_are_missing_are_not_taken_for_an_older_checkpoint():
    def save(path, run):
        if run.position % run.problem.micro_batches == 0:
            torch.save(state_of(run), path + ".new")
            os.replace(path + ".new", path)

    def load(path, run):
        if os.path.exists(path):
            put_state(run, torch.load(path), forget=("position",))

    verdict = mark_function(EXERCISE, submission(save, load), seed=1)
    assert {mistake.slug for mistake in verdict.mistakes} == {"state-missing-position", "checkpoint-too-old"}


def test_a_piece_that_was_replaced_hides_none_of_the_others():
    run = trials_of(EXERCISE, 3)["updates"].problem.start()
    before = digests(run)
    run.order = run.order.tolist()
    assert digests(run) == before
    run.shuffler = None
    assert digests(run).keys() == before.keys() - {"shuffler"}
