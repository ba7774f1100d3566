"""What is wrong with a returned gradient, an update or a loss, in words for students, and the mistakes that explain it.

Each function returns a message, which is empty if nothing is wrong, and the slugs of the mistakes it found.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import torch

from autograder.contract.observation import Observation
from autograder.exercises.unit_01_batches_and_gradients.judging.batches import (
    changes,
    frozen_returned,
    frozen_unmoved,
    leaves_a_gradient,
    moved_by_old_gradient,
    movement,
    returned_gradient,
)
from autograder.exercises.unit_01_batches_and_gradients.judging.drawn import drawn_message
from autograder.exercises.unit_01_batches_and_gradients.judging.sample_shares import (
    COARSE,
    MATCH,
    is_repeated,
    moves_between_samples,
    name_shares,
    other_mode,
    other_mode_in_words,
    unmix,
)
from autograder.exercises.unit_01_batches_and_gradients.observing import BatchTrial
from autograder.judging import left_behind
from autograder.judging.returned_kinds import returned_instead

Found = tuple[str, tuple[str, ...]]
"""A message for the student and the slugs of mistakes."""

CHANGED = {"parameters": "parameters-moved", ".grad": "grad-touched", "mode": "mode-changed", "requires_grad": "frozen-thawed"}
"""By what a function must leave as it was, the mistake of changing it."""

MOVED = {
    "parameters-unmoved": "The parameters have not moved.",
    "update-uphill": "The parameters moved the right distance in the opposite direction.",
    "rate-unused": "The parameters moved by the whole gradient, as if lr were 1.",
    "moved-twice": "The parameters moved twice as far as one update moves them.",
}
"""By mistake, what is said of an update that is a multiple of the right one."""

STALE = ("stale-start",)

TOO_LITTLE = "too little of the samples' gradients, if any, to tell what else is in it."


def gradient_message(part: str, trial: BatchTrial, seen: Observation) -> Found:
    """What is wrong with the gradient that a function returned, as far as this part of the exercise asks."""
    if seen.failure:
        return seen.failure.message, ()
    gradient = returned_gradient(trial, seen)
    if isinstance(gradient, str):
        return gradient, ()
    if part == "untouched":
        # Other parts ask which samples are in it; this one asks whether anything old is in it as well.
        mixture = unmix(trial, gradient)
        wrong: dict[str, str] = {}
        if not mixture.linear:
            mixture = unmix(trial, gradient, training=not trial.training)
            wrong[other_mode(trial)] = f"It is made of gradients of a model in {other_mode_in_words(trial)}."
        if not mixture.linear:
            return name_shares(trial, gradient)
        if mixture.has_stale:
            wrong["stale-start"] = "What .grad held before the call is part of what you return."
        if not mixture.has_samples:
            return f"What you return holds {TOO_LITTLE}", tuple(wrong)
        return " ".join(wrong.values()), tuple(wrong)
    if frozen_returned(trial, seen):
        return "You return an entry for a frozen parameter.", ("frozen-returned",)
    if trial.dropping:
        return drawn_message(trial, seen, gradient), ()
    return name_shares(trial, gradient)


def changed_message(trial: BatchTrial, seen: Observation) -> Found:
    """What a function changed that it had to leave alone."""
    changed = changes(trial, seen)
    named = CHANGED if seen.facts["own parameters"] else CHANGED | {"parameters": "parameters-replaced"}
    return left_behind.left_message(changed), tuple(named[what] for what in changed if what in named)


def left_message(trial: BatchTrial, seen: Observation) -> str:
    """What a function that updates a model changed or left behind, unless a part of its own asks for it; empty if nothing."""
    return "" if seen.failure else left_behind.left_message(what for what in changes(trial, seen) if what not in CHANGED)


def update_message(kept: str, trial: BatchTrial, seen: Observation) -> Found:
    """What is wrong with an update of the parameters.

    Args:
        kept: what the function must leave as it was, a key of :data:`CHANGED`.
        trial: the batch.
        seen: what the function left behind.
    """
    if seen.failure:
        return seen.failure.message, ()
    message, slugs = _movement_message(trial, seen)
    if kept in changes(trial, seen):
        return message or left_behind.left_message([kept]), (*slugs, CHANGED[kept])
    return message, slugs


def _movement_message(trial: BatchTrial, seen: Observation) -> Found:
    if not seen.facts["own parameters"]:
        return "The model has new parameters in place of its own.", ("parameters-replaced",)
    moved = movement(trial, seen)
    if trial.dropping:
        return drawn_message(trial, seen, moved), ()
    mixture = unmix(trial, moved)
    due = torch.full((trial.samples,), trial.due, dtype=mixture.samples.dtype)
    factors = {"parameters-unmoved": 0.0, "update-uphill": -1.0, "rate-unused": 1 / trial.lr, "moved-twice": 2.0}
    for slug, factor in factors.items():
        if mixture.holds(due * factor) and (factor or not moved.any()):
            return MOVED[slug], (slug,)
    if not mixture.linear and moves_between_samples(trial, moved):
        return "It is a sum of updates, one after each sample.", ("moves-between-samples",)
    if not mixture.linear and is_repeated(trial, moved):
        return "The parameters are updated more than once.", ()
    message, slugs = name_shares(trial, moved)
    if message:
        return f"The update is not lr times the gradient of the batch loss. {message}", slugs
    return "" if frozen_unmoved(trial, seen) else "A frozen parameter has moved.", slugs


def uses_no_rate(seen: Iterable[tuple[BatchTrial, Observation]]) -> bool:
    """Whether updates with different learning rates are the same multiple of the batch's gradient; others do not count."""
    multiples = {}
    for trial, observation in seen:
        mixture = unmix(trial, movement(trial, observation) * trial.lr / trial.due)
        if mixture.has_samples and mixture.same_of_each:
            multiples[trial.lr] = float(mixture.samples[0])
    least, most = min(multiples.values(), default=0), max(multiples.values(), default=0)
    return len(multiples) > 1 and most - least <= COARSE * MATCH * abs(most)


def clean_message(trial: BatchTrial, seen: Observation, fresh: Observation | None = None) -> Found:
    """What is wrong with what ``.grad`` contributed to the update, or holds after it.

    Args:
        trial: the batch.
        seen: what the function left behind.
        fresh: the same without anything in ``.grad``. It shows whether that matters to an update that is no sum of gradients.
    """
    if seen.failure:
        return seen.failure.message, ()
    moved = movement(trial, seen)
    mixture = unmix(trial, moved)
    has_stale = mixture.has_stale or moved_by_old_gradient(trial, seen)
    left = leaves_a_gradient(trial, seen)
    slugs = STALE * has_stale + ("gradient-left-behind",) * left
    if has_stale:
        return "What .grad held before the call is part of the update.", slugs
    if fresh and not fresh.failure and not mixture.linear and torch.dist(moved, movement(trial, fresh)) > MATCH * moved.norm():
        return "If .grad is empty before the call, the update is another one.", STALE + slugs
    if left:
        return "After the call .grad still holds a gradient.", slugs
    if not moved.any():
        return MOVED["parameters-unmoved"], slugs
    if not torch.isfinite(moved).all():
        return "Parameters hold values that are no longer numbers (NaN or inf).", slugs
    if not mixture.has_samples:
        return f"The update holds {TOO_LITTLE}", slugs
    return "", slugs


def loss_message(trial: BatchTrial, seen: Observation) -> Found:
    """What is wrong with the loss that a function returned."""
    if seen.failure:
        return seen.failure.message, ()
    if "loss" not in seen.facts:
        return returned_instead(seen.facts["type"], "a number"), ()
    sums = (False,) if trial.summed else (False, True)
    for late, other, summed in sorted(itertools.product((False, True), (False, True), sums), key=sum):
        loss = _loss(trial, seen if late else None, trial.training != other)
        if _same_loss(seen.facts["loss"], loss * trial.samples if summed else loss):
            wrong = {"loss-after-update": late, other_mode(trial): other, "loss-summed-over-samples": summed}
            slugs = tuple(slug for slug, is_so in wrong.items() if is_so)
            if not slugs:
                return "", ()
            which = "the sum of the samples' losses" if summed else "the loss"
            when = ["after the update"] * late + [f"in {other_mode_in_words(trial)}"] * other
            return f"This is {' '.join([which, *when])}.", slugs
    if _same_loss(seen.facts["loss"], trial.lr * _loss(trial, None, trial.training)):
        return "This is lr times the loss.", ()
    if _same_loss(seen.facts["loss"] * trial.samples, _loss(trial, None, trial.training)):
        already = "although loss_fn adds their losses" if trial.summed else "over which it is a mean already"
        return f"This is the loss divided by the number of samples, {already}.", ()
    return "The number returned is not the loss of the batch before the update.", _other_loss(trial, seen.facts["loss"])


def _other_loss(trial: BatchTrial, found: float) -> tuple[str, ...]:
    """The mistake of a loss that is that of a single sample, or was rounded."""
    model = trial.model()
    x, y = trial.batch()
    singles = [trial.loss_fn(model(x[i : i + 1]), y[i : i + 1]).item() for i in range(trial.samples)]
    if any(_same_loss(found, single) for single in singles):
        return ("loss-of-one-sample",)
    due = _loss(trial, None, trial.training)
    # A small loss rounds to 0, but 0 need not be a rounded loss.
    return ("loss-rounded",) if found and any(round(due, digits) == round(found, 9) for digits in range(5)) else ()


def _loss(trial: BatchTrial, after: Observation | None, training: bool) -> float:
    """The loss of the batch, before or after the student's update, in a mode."""
    model = trial.model().train(training)
    if after is not None:
        model.load_state_dict({name: after.tensors[f"parameter/{name}"] for name, _ in model.named_parameters()})
    x, y = trial.batch()
    return trial.loss_fn(model(x), y).item()


def _same_loss(found: float, due: float) -> bool:
    """Whether two losses agree up to 1e-5 relative, which admits float32; one step here changes a loss by more than 1e-3."""
    return abs(found - due) <= 1e-5 * abs(due)
