"""Watching tells right trainers from wrong ones, names the mistake, and changes nothing."""

from __future__ import annotations

from functools import cache

import pytest
import torch
import trainers_right  # noqa: F401 - enters its trainers, as the next two do
import trainers_untold  # noqa: F401
import trainers_wrong  # noqa: F401
from trainer_entries import TRAINERS

import gradaccum
from gradaccum.loops import GALLERY
from gradaccum.problems import Problem
from gradaccum.watching import CannotTellError, NotDueError

EVERY_TRAINER = pytest.mark.parametrize("trainer", TRAINERS, ids=lambda trainer: trainer.name)


@cache
def watched(trainer):
    """The model it ends with, what was seen, and the state of the random numbers."""
    torch.manual_seed(1)
    model = trainer.model()
    with gradaccum.watch(model, accumulation_steps=trainer.steps) as seen:
        trainer.run(model)
    return model, seen, torch.get_rng_state()


@pytest.mark.slow
@EVERY_TRAINER
def test_outcome_is_the_one_due(trainer):
    _, seen, _ = watched(trainer)
    named = [mistake.slug for mistake in seen.mistakes]
    assert (named or [seen.outcome]) == [trainer.want], str(seen)


@EVERY_TRAINER
def test_watched_run_ends_bit_for_bit_where_an_unwatched_one_ends(trainer):
    torch.manual_seed(1)
    alone = trainer.model()
    trainer.run(alone)
    state = torch.get_rng_state()
    model, _, watched_state = watched(trainer)
    assert torch.equal(state, watched_state)
    for name, value in alone.state_dict().items():
        assert torch.equal(value, model.state_dict()[name]), name


PROBLEM = Problem(seed=3, accumulation_steps=4, epochs=((2, 3, 1, 4, 2, 5, 2, 1, 3, 4), (3, 2, 1, 4, 2, 2, 1), (2, 3)), width=8)

SEEN_AS = {
    "right": "due",
    "lr-scaled-too": "due",  # a rate may change: schedules do
    "stale-start": "due",  # .grad is empty when this problem begins
    "eval-mode": "due",  # the same micro-batches at the same weights; a note says in which mode
    "short-epoch-no-step": "tail-dropped",  # a list says nothing of epochs, so the last one looks like a leftover
    "zero-before-step": "empty-update",
}
"""What watching says of loops of the gallery where that is not the loop's own name, and why."""


@pytest.mark.slow
@pytest.mark.parametrize("slug", GALLERY)
def test_loop_of_the_gallery_is_named_as_by_its_fingerprint(slug):
    model = PROBLEM.build_model()
    optimizer = PROBLEM.build_optimizer(model)
    with gradaccum.watch(model, accumulation_steps=4) as seen:
        for epoch in range(len(PROBLEM.epochs)):
            GALLERY[slug](model, PROBLEM.loss_fn, optimizer, PROBLEM.micro_batches(epoch), 4)
    named = [mistake.slug for mistake in seen.mistakes] or [seen.outcome]
    assert named == [SEEN_AS.get(slug, slug)], str(seen)


def test_message_says_whether_samples_or_tokens_are_counted():
    by_name = {trainer.name: trainer for trainer in TRAINERS}
    assert "By their tokens, " in str(watched(by_name["mean_of_means_over_tokens"])[1])
    assert "By their samples, 1/7, 3/14, 2/7 and 5/14 were due" in str(
        watched(by_name["mean_of_means_over_samples_of_a_classification"])[1]
    )


def test_check_passes_only_what_is_due():
    by_name = {trainer.name: trainer for trainer in TRAINERS}
    assert watched(by_name["mean_weighted_by_tokens"])[1].check() is None
    with pytest.raises(NotDueError, match="mean-of-means"):
        watched(by_name["mean_of_means_over_tokens"])[1].check()
    with pytest.raises(CannotTellError, match="No backward was seen"):
        watched(by_name["nothing_at_all"])[1].check()
