"""Unit 01, batches and gradients: what is the gradient of a batch?"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import torch

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part, Verdict
from autograder.exercises.unit_01_batches_and_gradients import mistakes  # noqa: F401 - enters them in the catalogue
from autograder.exercises.unit_01_batches_and_gradients.judging.batches import (
    changes,
    frozen_returned,
    frozen_unmoved,
    leaves_a_gradient,
    moved_by_old_gradient,
    movement,
    returned_gradient,
)
from autograder.exercises.unit_01_batches_and_gradients.judging.sample_shares import (
    moves_between_samples,
    name_shares,
    other_mode,
    unmix,
)
from autograder.exercises.unit_01_batches_and_gradients.observing import BatchTrial
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.problems import Problem, best_dtype

UNIT = "01_batches_and_gradients"

SAMPLES = (5, 6, 7)
"""Sizes of batches. Whoever counts something else of these models, see ``OTHER_SIZES``, or a fixed number, is found out."""


class GradientOfBatch(Exercise):
    """A function that returns the gradient of a batch by parameter name and leaves the model as it was."""

    unit = UNIT

    def batch(self, seed: int, device: str, offset: int, samples: int, **options) -> Problem:
        basics = {"device": device, "dtype": best_dtype(device), "width": 8}
        return Problem(seed + offset, samples, ((1,) * samples,), **basics | options)

    def judge(self, trials, observations):
        results, slugs = {}, []
        for name, trial in trials.items():
            results[name] = _gradient_message(name, trial, observations[name], slugs)
        for name, trial in trials.items():
            if not observations[name].failure:
                touched = _touched_message(trial, observations[name], slugs)
                results["untouched"] = results["untouched"] or touched
        if "stale-start" in slugs and "grad-touched" in slugs:
            # The hint for the first alone is to clear, which is not allowed here; that for the second helps with both.
            slugs.insert(0, "grad-touched")
        if "mean" in results and not results["mean"] and "sums-samples" in slugs:
            slugs = ["batch-not-samples" if slug == "sums-samples" else slug for slug in slugs]
        return _verdict(self, results, slugs, observations)


class BatchGradient(GradientOfBatch):
    """``batch_gradient(model, loss_fn, x, y) -> dict[str, Tensor]``."""

    id = "batch_gradient"
    section = "Explore: gradients of samples"
    parts = (
        Part("gradient", "the gradient of the batch loss", 1),
        Part("frozen", "models with frozen and unused parameters", 1),
        Part("untouched", "leaving parameters, .grad and mode as they were", 1),
    )

    def trials(self, seed, device):
        a, b, c = trial_random(self.id, seed).sample(SAMPLES, 3)
        return {
            "gradient": BatchTrial(self.batch(seed, device, 1, a, gated=True)),
            "frozen": BatchTrial(self.batch(seed, device, 2, b, extras=True)),
            "untouched": BatchTrial(self.batch(seed, device, 3, c, stale=True, gated=True), training=False),
        }


class AverageSampleGradients(GradientOfBatch):
    """``average_sample_gradients(model, loss_fn, x, y) -> dict[str, Tensor]``: the same from one sample at a time."""

    id = "average_sample_gradients"
    section = "Adding is not averaging"
    parts = (
        Part("mean", "the mean of the sample gradients", 1),
        Part("summed", "the same for a loss_fn that adds its samples", 1),
        Part("untouched", "leaving parameters, .grad and mode as they were", 1),
    )

    def trials(self, seed, device):
        a, b, c = trial_random(self.id, seed).sample(SAMPLES, 3)
        return {
            "mean": BatchTrial(self.batch(seed, device, 1, a, gated=True)),
            "summed": BatchTrial(self.batch(seed, device, 2, b), summed=True),
            "untouched": BatchTrial(self.batch(seed, device, 3, c, stale=True, gated=True), training=False),
        }


class SgdStep(GradientOfBatch):
    """``sgd_step(model, loss_fn, x, y, lr) -> float``: one plain update in place; returns the loss before it."""

    id = "sgd_step"
    section = "One update"
    parts = (
        Part("update", "the update", 1),
        Part("frozen", "models with frozen and unused parameters", 1),
        Part("clean", "clean gradients before and after", 1),
        Part("loss", "the returned loss", 1),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        a, b, c = chance.sample(SAMPLES, 3)
        rates = iter(chance.sample([0.03, 0.05, 0.07, 0.13, 0.15, 0.21], 6))

        def trial(offset, samples, training=True, frozen_stale=False, **options):
            problem = self.batch(seed, device, offset, samples, **options)
            return BatchTrial(problem, training=training, lr=next(rates), frozen_stale=frozen_stale)

        return {
            "update": trial(1, a, gated=True),
            "frozen": trial(2, b, extras=True),
            "clean": trial(3, c, stale=True),
            "loss": trial(4, a, gated=True),
            "evaluating": trial(5, b, gated=True, training=False),
            "clean extras": trial(6, c, stale=True, extras=True, frozen_stale=True),
        }

    def judge(self, trials, observations):
        slugs: list[str] = []
        about = {"update": "mode", "evaluating": "mode", "frozen": "requires_grad"}
        said = {name: _update_message(what, trials[name], observations[name], slugs) for name, what in about.items()}
        in_evaluation = said["evaluating"] and f"For a model in evaluation mode: {said['evaluating']}"
        results = {"update": said["update"] or in_evaluation, "frozen": said["frozen"]}
        results["clean"] = _clean_message(trials["clean"], observations["clean"], slugs)
        if not observations["frozen"].failure:  # for which the points are lost already
            with_extras = _clean_message(trials["clean extras"], observations["clean extras"], slugs)
            results["clean"] = results["clean"] or with_extras
        results["loss"] = _loss_message(trials["loss"], observations["loss"], slugs)
        return _verdict(self, results, slugs, observations)


def _verdict(exercise: Exercise, results: Mapping[str, str], slugs: list[str], observations: Mapping) -> Verdict:
    failure = next((o.failure for o in observations.values() if o.failure), None)
    named = tuple(mistake(slug) for slug in dict.fromkeys(slugs))
    return exercise.verdict(results, mistakes=named, failure=failure)


def _gradient_message(part: str, trial: BatchTrial, seen: Observation, slugs: list[str]) -> str:
    if seen.failure:
        return seen.failure.message
    found = returned_gradient(trial, seen)
    if isinstance(found, str):
        return found
    if part == "untouched":
        # Which samples are in it counts elsewhere; here, whether anything old came along.
        mixture = unmix(trial, found)
        slugs += ["stale-start"] * mixture.has_stale
        said = "What .grad held before the call is part of what you return." if mixture.has_stale else ""
        return said if mixture.has_samples else "What you return holds nothing of any sample."
    if part == "frozen" and frozen_returned(trial, seen):
        slugs.append("frozen-returned")
        return "There is an entry for a frozen parameter."
    said, named = name_shares(trial, found)
    slugs += named
    return said


def _touched_message(trial: BatchTrial, seen: Observation, slugs: list[str]) -> str:
    changed = changes(trial, seen)
    slugs += [_TOUCHED[what] for what in changed]
    return f"After the call this is not as it was: {', '.join(changed)}." if changed else ""


_TOUCHED = {"parameters": "parameters-moved", ".grad": "grad-touched", "mode": "mode-changed", "requires_grad": "frozen-thawed"}


def _update_message(what: str, trial: BatchTrial, seen: Observation, slugs: list[str]) -> str:
    if seen.failure:
        return seen.failure.message
    said = _movement_message(trial, seen, slugs)
    if what in changes(trial, seen):
        slugs.append(_TOUCHED[what])
        return said or f"After the call this is not as it was: {what}."
    return said


def _movement_message(trial: BatchTrial, seen: Observation, slugs: list[str]) -> str:
    moved = movement(trial, seen)
    mixture = unmix(trial, moved)
    due = torch.full((trial.samples,), 1 / trial.samples, dtype=mixture.samples.dtype)
    for slug, factor in {"parameters-unmoved": 0.0, "update-uphill": -1.0, "rate-unused": 1 / trial.lr}.items():
        if mixture.holds(due * factor):
            slugs.append(slug)
            return _MOVED[slug]
    if not mixture.linear and moves_between_samples(trial, moved):
        slugs.append("moves-between-samples")
        return "It is a sum of updates, one after each sample."
    said, named = name_shares(trial, moved)
    slugs += named
    if said:
        return f"The update is not lr times the gradient of the batch loss. {said}"
    return "" if frozen_unmoved(trial, seen) else "A frozen parameter has moved."


_MOVED = {
    "parameters-unmoved": "The parameters are where they were.",
    "update-uphill": "The parameters moved the right distance in the opposite direction.",
    "rate-unused": "The parameters moved by the whole gradient, whatever lr says.",
}


def _clean_message(trial: BatchTrial, seen: Observation, slugs: list[str]) -> str:
    if seen.failure:
        return seen.failure.message
    mixture = unmix(trial, movement(trial, seen))
    has_stale = mixture.has_stale or moved_by_old_gradient(trial, seen)
    left = leaves_a_gradient(trial, seen)
    slugs += ["stale-start"] * has_stale + ["gradient-left-behind"] * left
    if has_stale:
        return "What .grad held before the call is part of the update."
    if left:
        return "After the call .grad still holds a gradient."
    return "" if mixture.has_samples else "The parameters are where they were."


def _loss_message(trial: BatchTrial, seen: Observation, slugs: list[str]) -> str:
    if seen.failure:
        return seen.failure.message
    if "loss" not in seen.facts:
        return f"Your function returned {seen.facts['type']} where a number was due."
    for late, other, summed in sorted(itertools.product((False, True), repeat=3), key=sum):
        loss = _loss(trial, seen if late else None, trial.training != other)
        if _same_loss(seen.facts["loss"], loss * trial.samples if summed else loss):
            wrong = {"loss-after-update": late, other_mode(trial): other, "loss-summed-over-samples": summed}
            slugs += [slug for slug, is_so in wrong.items() if is_so]
            said = ["after the update"] * late + [f"in {'evaluation' if trial.training else 'training'} mode"] * other
            said = " ".join(["the sum of the samples' losses" if summed else "the loss", *said])
            return f"This is {said}." if any(wrong.values()) else ""
    return "The number returned is not the loss of the batch before the update."


def _loss(trial: BatchTrial, after: Observation | None, training: bool) -> float:
    """The loss of the batch, before or after the student's update, in a mode."""
    model = trial.model().train(training)
    if after is not None:
        model.load_state_dict({name: after.tensors[f"parameter/{name}"] for name, _ in model.named_parameters()})
    x, y = trial.batch()
    return trial.loss_fn(model(x), y).item()


def _same_loss(found: float, due: float) -> bool:
    """Up to 1e-5 relative, which admits float32; one step at these rates changes a loss by more than 1e-3."""
    return abs(found - due) <= 1e-5 * abs(due)
