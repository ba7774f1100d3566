"""Unit 01, batches and gradients: what is the gradient of a batch?"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from autograder.exercise import Exercise, Observation, Part, Verdict, register, trial_random
from autograder.gradient_trials import (
    BatchTrial,
    changes,
    frozen_returned,
    frozen_unmoved,
    movement,
    name_shares,
    observe_gradients,
    observe_step,
    returned_gradient,
    unmix,
)
from autograder.mistakes import add_mistake, mistake
from gradaccum.problems import Problem, best_dtype

UNIT = "01_batches_and_gradients"


class GradientOfBatch(Exercise):
    """A function that returns the gradient of a batch by parameter name and leaves the model as it was."""

    unit = UNIT

    def batch(self, seed: int, device: str, offset: int, samples: int, **options) -> Problem:
        basics = {"device": device, "dtype": best_dtype(device), "width": 8}
        return Problem(seed + offset, samples, ((1,) * samples,), **basics | options)

    def observe(self, function, trial):
        return observe_gradients(function, trial)

    def judge(self, trials, observations):
        results, slugs = {}, []
        for name, trial in trials.items():
            results[name] = _gradient_message(name, trial, observations[name], slugs)
        for name, trial in trials.items():
            if not observations[name].failure:
                touched = _touched_message(trial, observations[name], slugs)
                results["untouched"] = results["untouched"] or touched
        if "mean" in results and not results["mean"] and "sums-samples" in slugs:
            slugs = ["batch-not-samples" if slug == "sums-samples" else slug for slug in slugs]
        return _verdict(self, results, slugs, observations)


@register
class BatchGradient(GradientOfBatch):
    """``batch_gradient(model, loss_fn, x, y) -> dict[str, Tensor]``."""

    id = "batch_gradient"
    parts = (
        Part("gradient", "the gradient of the batch loss", 1),
        Part("frozen", "models with frozen and unused parameters", 1),
        Part("untouched", "leaving parameters, .grad and mode as they were", 1),
    )

    def trials(self, seed, device):
        samples = trial_random(self.id, seed).randint(3, 6)
        return {
            "gradient": BatchTrial(self.batch(seed, device, 1, samples, gated=True)),
            "frozen": BatchTrial(self.batch(seed, device, 2, samples, extras=True)),
            "untouched": BatchTrial(self.batch(seed, device, 3, samples, stale=True, gated=True), training=False),
        }


@register
class AverageSampleGradients(GradientOfBatch):
    """``average_sample_gradients(model, loss_fn, x, y) -> dict[str, Tensor]``: the same from one sample at a time."""

    id = "average_sample_gradients"
    parts = (
        Part("mean", "the mean of the sample gradients", 1),
        Part("summed", "the same for a loss_fn that adds its samples", 1),
        Part("untouched", "leaving parameters, .grad and mode as they were", 1),
    )

    def trials(self, seed, device):
        samples = trial_random(self.id, seed).randint(3, 6)
        return {
            "mean": BatchTrial(self.batch(seed, device, 1, samples, gated=True)),
            "summed": BatchTrial(self.batch(seed, device, 2, samples), summed=True),
            "untouched": BatchTrial(self.batch(seed, device, 3, samples, stale=True, gated=True), training=False),
        }


@register
class SgdStep(GradientOfBatch):
    """``sgd_step(model, loss_fn, x, y, lr) -> float``: one plain update in place; returns the loss before it."""

    id = "sgd_step"
    parts = (
        Part("update", "the update", 1),
        Part("frozen", "models with frozen and unused parameters", 1),
        Part("clean", "clean gradients before and after", 1),
        Part("loss", "the returned loss", 1),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        samples = chance.randint(3, 6)
        rates = chance.sample([0.03, 0.05, 0.07, 0.13, 0.15, 0.21], 4)
        problems = {
            "update": self.batch(seed, device, 1, samples, gated=True),
            "frozen": self.batch(seed, device, 2, samples, extras=True),
            "clean": self.batch(seed, device, 3, samples, stale=True),
            "loss": self.batch(seed, device, 4, samples),
        }
        return {name: BatchTrial(problem, lr=lr) for (name, problem), lr in zip(problems.items(), rates, strict=True)}

    def observe(self, function, trial):
        return observe_step(function, trial)

    def judge(self, trials, observations):
        slugs: list[str] = []
        results = {name: _update_message(name, trials[name], observations[name], slugs) for name in ("update", "frozen")}
        results["clean"] = _clean_message(trials["clean"], observations["clean"], slugs)
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


def _update_message(part: str, trial: BatchTrial, seen: Observation, slugs: list[str]) -> str:
    if seen.failure:
        return seen.failure.message
    said = _movement_message(trial, seen, slugs)
    what = {"update": "mode", "frozen": "requires_grad"}[part]
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
    left = any(bool(value.any()) for name, value in seen.tensors.items() if name.startswith("grad/"))
    slugs += ["stale-start"] * mixture.has_stale + ["gradient-left-behind"] * left
    if mixture.has_stale:
        return "What .grad held before the call is part of the update."
    if left:
        return "After the call .grad still holds a gradient."
    return "" if mixture.has_samples else "The parameters are where they were."


def _loss_message(trial: BatchTrial, seen: Observation, slugs: list[str]) -> str:
    if seen.failure:
        return seen.failure.message
    if "loss" not in seen.facts:
        return f"Your function returned {seen.facts['type']} where a number was due."
    model = trial.model()
    x, y = trial.batch()
    if _same_loss(seen.facts["loss"], trial.loss_fn(model(x), y).item()):
        return ""
    after = {name.removeprefix("parameter/"): value for name, value in seen.tensors.items() if name.startswith("parameter/")}
    model.load_state_dict(after)
    if _same_loss(seen.facts["loss"], trial.loss_fn(model(x), y).item()):
        slugs.append("loss-after-update")
        return "This is the loss after the update."
    if _same_loss(seen.facts["loss"], trial.loss_fn(trial.model()(x), y).item() * trial.samples):
        slugs.append("loss-summed-over-samples")
        return "This is the sum of the samples' losses."
    return "The number returned is not the loss of the batch before the update."


def _same_loss(found: float, due: float) -> bool:
    """Up to 1e-5 relative, which admits float32; one step at these rates changes a loss by more than 1e-3."""
    return abs(found - due) <= 1e-5 * abs(due)


add_mistake(
    "sums-samples",
    "You add up the gradients of the samples where their average is due: your gradient is as many times too long as "
    "there are samples.",
    "How does the mean of a list of numbers differ from their sum?",
)
add_mistake(
    "batch-not-samples",
    "You take the gradient of the whole batch at once. With a loss_fn that averages nobody can tell; with one that adds it is "
    "not the mean of the sample gradients.",
    "What is x[i : i + 1]? Ask for the gradient of that batch of one, for every i.",
)
add_mistake(
    "samples-divided-twice",
    "Each sample's gradient is divided by the number of samples twice, so the result is too short.",
    "Follow one sample's gradient to the result and count the divisions on its way.",
)
add_mistake(
    "single-sample",
    "Only one sample of the batch is in your gradient; the others are computed and lost, or never looked at.",
    "What happens to the gradient of the first sample when the second one arrives?",
)
add_mistake(
    "sample-missing",
    "One sample of the batch never reaches your gradient.",
    "Which numbers does your loop count through, and which one is the last?",
)
add_mistake(
    "halved-again-and-again",
    "You average the running result with each new sample, so early samples are halved again and again; late ones weigh most.",
    "Work out by hand how much of the first of three samples is left in your result.",
)
add_mistake(
    "frozen-returned",
    "You return an entry for a frozen parameter. It takes no part in training, and has no gradient.",
    "How does a parameter tell you whether it is to be trained?",
)
add_mistake(
    "frozen-thawed",
    "You change requires_grad of a parameter that is none of your function's business: whoever froze it wants it frozen.",
    "Which parameters can you ask a gradient for without changing any of them?",
)
add_mistake(
    "grad-touched",
    "You change .grad. Somebody else may be gathering a gradient there, and it is lost or mixed with yours.",
    "Is there a way to ask autograd for gradients that returns them instead of storing them?",
)
add_mistake(
    "parameters-moved",
    "You change the parameters, although you were only asked to measure.",
    "Which line of yours writes into a parameter?",
)
add_mistake(
    "mode-changed",
    "You leave the model in another mode than you found it in, so that layers such as dropout act differently afterwards.",
    "Do you need to call train() or eval() at all?",
)
add_mistake(
    "parameters-unmoved",
    "The parameters are the same before and after your function.",
    "Does your line write into the parameter itself, or make a new tensor and forget it? And what is in .grad when it runs?",
)
add_mistake(
    "update-uphill",
    "You move along the gradient, which raises the loss.",
    "Into which direction does a gradient point: up or down?",
)
add_mistake(
    "rate-unused",
    "You move by the whole gradient; the learning rate is not used.",
    "How far would your update go with lr = 0?",
)
add_mistake(
    "gradient-left-behind",
    "Your update's gradient stays in .grad, where the next backward will add to it.",
    "Backward adds. In which state do you want to leave .grad for whoever comes next?",
)
add_mistake(
    "loss-after-update",
    "You report the loss after the update, which needs a second forward pass and says nothing about the gradient you used.",
    "Which loss did the gradient of your update come from?",
)
add_mistake(
    "loss-summed-over-samples",
    "You report the sum of the samples' losses, which grows with the batch.",
    "What does loss_fn return for the whole batch?",
)
