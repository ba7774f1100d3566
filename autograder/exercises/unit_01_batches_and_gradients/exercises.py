"""Unit 01, batches and gradients: what is the gradient of a batch?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

import torch

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part, Verdict
from autograder.exercises.unit_01_batches_and_gradients.judging.batches import MISSING, movement
from autograder.exercises.unit_01_batches_and_gradients.judging.messages import (
    MOVED,
    Found,
    changed_message,
    clean_message,
    gradient_message,
    left_message,
    loss_message,
    update_message,
    uses_no_rate,
)
from autograder.exercises.unit_01_batches_and_gradients.judging.sample_shares import OTHER_SIZES, is_right_but_for_the_mode
from autograder.exercises.unit_01_batches_and_gradients.observing import OTHER_SEED, BatchTrial
from autograder.judging.failures import first_failure
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.problems import OUTPUTS, Problem, best_dtype, joined

UNIT = "01_batches_and_gradients"

SAMPLES = (5, 6, 7)
"""Sizes of batches. They differ from every other size in these models, so that dividing by one of those (see ``OTHER_SIZES``),
or by a fixed number, is noticed."""


def batch_problem(
    seed: int,
    device: str,
    samples: int,
    *,
    gated: bool = False,
    extras: bool = False,
    renamed: bool = False,
    stale: bool = False,
    overflowed: bool = False,
    tied: bool = False,
    outputs: int = OUTPUTS,
    dtype: str = "",
) -> Problem:
    """A batch of so many samples as micro-batches of one sample each; options as of :class:`gradaccum.problems.Problem`."""
    return Problem(
        seed,
        samples,
        ((1,) * samples,),
        device=device,
        dtype=dtype or best_dtype(device),
        width=8,
        gated=gated,
        extras=extras,
        renamed=renamed,
        stale=stale,
        overflowed=overflowed,
        tied=tied,
        depth=3 if tied else 1,
        outputs=outputs,
    )


@torch.no_grad()
def ends_fit_best(trial: BatchTrial) -> bool:
    """Whether the losses of the batch's first and last sample are below its mean loss.

    A function that takes a loss for a sum because it exceeds the loss of one sample is then wrong about this mean.
    """
    model = trial.problem.build_model()
    losses = torch.stack([trial.loss_fn(model(x), y) for x, y in trial.problem.batches()])
    return bool(losses[[0, -1]].max() < losses.mean())


@torch.no_grad()
def some_cost_nothing(trial: BatchTrial) -> bool:
    """Whether the loss of some samples is zero, and a division by the number of the others is not taken for another mistake."""
    model, samples = trial.exact()
    free = [float(trial.loss_fn(model(x), y)) == 0 for x, y in samples]
    return free.count(False) not in (0, 1, len(free) - 1, len(free), *OTHER_SIZES)


@torch.no_grad()
def with_loss(trial: BatchTrial, low: float, high: float) -> BatchTrial:
    """The trial, with other data if need be, so that its loss is between these."""
    while True:
        model, samples = trial.exact()
        x, y = joined(samples)
        if low < float(trial.loss_fn(model(x), y)) < high:
            return trial
        trial = replace(trial, problem=trial.problem.with_(seed=trial.problem.seed + OTHER_SEED))


RATES = (0.035, 0.055, 0.075, 0.135, 0.155, 0.215)
"""Rates of an update. None is a usual rate times or over a whole number, so that a fixed rate does not look like a divisor."""

STEEP = 10.0
"""A rate at which an update raises the loss. Over 60 seeds one of 3 does so, too, in every case."""

SPECIAL = {
    "untouched": ("", "For a model in evaluation mode"),
    "adding in evaluation": ("summed", "For a model in evaluation mode and a loss_fn that adds its samples"),
    "alone": ("", "For a batch of one sample"),
    "one": ("", "For a batch of one sample with x = 0"),
    "adding": ("", "For a loss_fn that adds its samples"),
    "dropping": ("", "For a model that drops values at random, as dropout does"),
    "repeated": ("", "For a batch in which two samples have the same x"),
    "hinged": ("", "For a batch in which the loss of some samples is zero"),
    "narrow": ("", "For a model in float32 with a single output"),
    "mixed": ("untouched", "For a model with a layer in the other mode"),
    "again": ("untouched", "Called several times with the same model"),
    "tied": ("", "For a model in which two layers share a weight"),
    "steep": ("", "For a rate so large that the loss rises"),
    "overflowed": ("untouched", "If .grad holds infinity before the call"),
}
"""Trials that matter if the others are right: the part that each belongs to, the first if empty, and what is special there."""

SPECIAL_LOSSES = {"evaluating": "For a model in evaluation mode"} | {
    name: SPECIAL[name][1] for name in ("alone", "one", "adding", "mixed", "again")
}
"""Trials whose returned loss matters if everything else is right, and what is special there."""


OF_BATCH = {"mean": "samples-divided-twice", "summed": "sums-samples"}
"""What the gradient of the whole batch looks like in a part if the other one is right."""


def _of_batch(slug: str, named: tuple[str, ...]) -> tuple[str, ...]:
    """Names of mistakes where this one is that of a function that takes the gradient of the whole batch."""
    return tuple("batch-not-samples" if name == slug else name for name in named)


class GradientOfBatch(Exercise[BatchTrial]):
    """A function that returns the gradient of a batch by parameter name and leaves the model as it was."""

    unit = UNIT

    def judge(self, trials: Mapping[str, BatchTrial], observations: Mapping[str, Observation]) -> Verdict:
        results: dict[str, str] = {}
        named_of: dict[str, tuple[str, ...]] = {}
        for part in self.parts:
            results[part.name], named_of[part.name] = gradient_message(part.name, trials[part.name], observations[part.name])
        for place, slug in OF_BATCH.items():
            if slug in named_of.get(place, ()) and any(is_right_but_for_the_mode(results[other]) for other in OF_BATCH):
                named_of[place] = _of_batch(slug, named_of[place])
        slugs = list(itertools.chain.from_iterable(named_of.values()))
        for name, trial in trials.items():
            if not observations[name].failure:
                changed, named = changed_message(trial, observations[name])
                results["untouched"] = changed or results["untouched"]
                slugs += named
        if not any(results.values()):
            found = {name: gradient_message("", trials[name], observations[name]) for name in SPECIAL if name in trials}
            for name, (message, named) in found.items():
                place, what = SPECIAL[name]
                if name == "adding in evaluation" and not found["untouched"][0]:
                    named = _of_batch(OF_BATCH["summed"], named)
                lost = place or self.parts[0].name
                where = "" if message.startswith(MISSING) or "frozen-returned" in named else f"{what}: "
                results[lost] = results[lost] or (message and f"{where}{message}{_kept(found, observations)}")
                slugs += named
        if "stale-start" in slugs and "grad-touched" in slugs:
            # The hint for the first alone is to clear, which is not allowed here; that for the second helps with both.
            slugs.insert(0, "grad-touched")
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
    tidy = "untouched"

    def trials(self, seed: int, device: str) -> dict[str, BatchTrial]:
        a, b, c = trial_random(self.id, seed).sample(SAMPLES, 3)
        return {
            "gradient": BatchTrial(batch_problem(seed + 1, device, a, gated=True)),
            "frozen": BatchTrial(batch_problem(seed + 2, device, b, extras=True)),
            "untouched": BatchTrial(batch_problem(seed + 3, device, c, stale=True, gated=True), training=False),
            "one": BatchTrial(batch_problem(seed + 4, device, 1, gated=True), zeros=True, summed=True),
            "alone": BatchTrial(batch_problem(seed + 10, device, 1, gated=True)),
            "adding": BatchTrial(batch_problem(seed + 12, device, c), summed=True),
            "narrow": BatchTrial(batch_problem(seed + 6, device, b, outputs=1, dtype="float32")),
            "mixed": BatchTrial(batch_problem(seed + 7, device, a, gated=True), mixed=True),
            "again": BatchTrial(batch_problem(seed + 5, device, a, gated=True), calls=3),
            "overflowed": BatchTrial(
                batch_problem(seed + 8, device, b, overflowed=True, extras=True, renamed=True), frozen_stale=True
            ),
            "tied": BatchTrial(batch_problem(seed + 9, device, c, tied=True)),
            "dropping": BatchTrial(batch_problem(seed + 11, device, b, gated=True), dropping=True),
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
    tidy = "untouched"

    def trials(self, seed: int, device: str) -> dict[str, BatchTrial]:
        a, b, c = trial_random(self.id, seed).sample(SAMPLES, 3)
        if a % 2 == 0:  # averages of pairs would then have the right average
            a, b = b, a
        means = (BatchTrial(batch_problem(seed + 1 + 1000 * k, device, a, gated=True)) for k in itertools.count())
        hinged = (BatchTrial(batch_problem(seed + 12 + 1000 * k, device, c), hinged=True) for k in itertools.count())
        return {
            "mean": next(filter(ends_fit_best, means)),
            "summed": BatchTrial(batch_problem(seed + 2, device, b), summed=True, averaged=True),
            "adding in evaluation": BatchTrial(
                batch_problem(seed + 13, device, b, gated=True), summed=True, averaged=True, training=False
            ),
            "untouched": BatchTrial(batch_problem(seed + 3, device, c, stale=True, gated=True), training=False),
            "one": BatchTrial(batch_problem(seed + 4, device, 1, gated=True), zeros=True),
            "alone": BatchTrial(batch_problem(seed + 9, device, 1, gated=True), summed=True),
            "mixed": BatchTrial(batch_problem(seed + 7, device, a, gated=True), mixed=True),
            "again": BatchTrial(batch_problem(seed + 5, device, a, gated=True), calls=3),
            "overflowed": BatchTrial(batch_problem(seed + 8, device, b, overflowed=True)),
            "repeated": BatchTrial(batch_problem(seed + 10, device, a), repeated=True),
            "hinged": next(filter(some_cost_nothing, hinged)),
            "dropping": BatchTrial(batch_problem(seed + 11, device, b, gated=True), dropping=True),
            "narrow": BatchTrial(batch_problem(seed + 6, device, b, outputs=1, dtype="float32")),
        }


class SgdStep(Exercise[BatchTrial]):
    """``sgd_step(model, loss_fn, x, y, lr) -> float``: one plain update in place; returns the loss before it."""

    id = "sgd_step"
    section = "One update"
    unit = UNIT
    parts = (
        Part("update", "the update", 1),
        Part("frozen", "models with frozen and unused parameters", 1),
        Part("clean", "clean gradients before and after", 1),
        Part("loss", "the returned loss", 1),
    )

    def trials(self, seed: int, device: str) -> dict[str, BatchTrial]:
        chance = trial_random(self.id, seed)
        a, b, c = chance.sample(SAMPLES, 3)
        rates = chance.sample(RATES, 6)
        trials = {
            "update": BatchTrial(batch_problem(seed + 1, device, a, gated=True), lr=rates[0]),
            "frozen": BatchTrial(batch_problem(seed + 2, device, b, extras=True, renamed=True), lr=rates[1]),
            "clean": BatchTrial(batch_problem(seed + 3, device, c, stale=True), lr=rates[2]),
            "loss": BatchTrial(batch_problem(seed + 4, device, a, gated=True), lr=rates[3]),
            # As "update" but for the mode, so that it is the mode that makes a difference.
            "evaluating": BatchTrial(batch_problem(seed + 5, device, a, gated=True), training=False, lr=rates[4]),
            "clean extras": BatchTrial(
                batch_problem(seed + 6, device, c, stale=True, extras=True, renamed=True), lr=rates[5], frozen_stale=True
            ),
            "one": BatchTrial(batch_problem(seed + 7, device, 1, gated=True), lr=rates[0], zeros=True, summed=True),
            "alone": BatchTrial(batch_problem(seed + 13, device, 1, gated=True), lr=rates[3]),
            "adding": BatchTrial(batch_problem(seed + 15, device, c), lr=rates[5] / 50, summed=True),
            "narrow": BatchTrial(batch_problem(seed + 9, device, c, outputs=1, dtype="float32"), lr=rates[2]),
            "mixed": BatchTrial(batch_problem(seed + 16, device, b, gated=True), lr=rates[2], mixed=True),
            "again": BatchTrial(batch_problem(seed + 8, device, b, gated=True), lr=rates[1], calls=3),
            "tied": BatchTrial(batch_problem(seed + 10, device, a, tied=True), lr=rates[4]),
            "overflowed": BatchTrial(batch_problem(seed + 11, device, b, overflowed=True), lr=rates[3]),
            "steep": BatchTrial(batch_problem(seed + 12, device, c), lr=STEEP),
            "dropping": BatchTrial(batch_problem(seed + 14, device, b, gated=True), lr=rates[1], dropping=True),
        }
        # A function that does something else where the loss is low is wrong about a single sample, at every seed.
        high = {name: with_loss(trials[name], 1.0, math.inf) for name in (*(part.name for part in self.parts), "evaluating")}
        fresh = {"clean probe": replace(high["clean"], problem=high["clean"].problem.with_(stale=False))}
        return trials | high | fresh | {"alone": with_loss(trials["alone"], 0.0, 0.7)}

    def judge(self, trials: Mapping[str, BatchTrial], observations: Mapping[str, Observation]) -> Verdict:
        slugs: list[str] = []
        messages: dict[str, str] = {}
        for name, kept in {"update": "mode", "evaluating": "mode", "frozen": "requires_grad"}.items():
            messages[name], named = update_message(kept, trials[name], observations[name])
            slugs += named
        in_evaluation = messages["evaluating"] and f"For a model in evaluation mode: {messages['evaluating']}"
        results = {"update": messages["update"] or in_evaluation, "frozen": messages["frozen"]}
        pairs = [(trial, observations[name]) for name, trial in trials.items() if not observations[name].failure]
        slugs = [slug for slug in slugs if slug != "rate-unused"]  # which a single rate cannot show
        if messages["update"] and uses_no_rate(pairs):
            slugs.append("rate-unused")
        results["clean"], named = clean_message(trials["clean"], observations["clean"], observations["clean probe"])
        slugs += named
        if not observations["frozen"].failure:  # for which the points are lost already
            with_extras, named = clean_message(trials["clean extras"], observations["clean extras"])
            results["clean"] = results["clean"] or with_extras
            slugs += named
        if not any(results.values()):
            found = {name: update_message("mode", trials[name], observations[name]) for name in SPECIAL if name in trials}
            for name, (message, named) in found.items():
                named = tuple(slug for slug in named if slug not in MOVED)  # elsewhere they have moved as they should
                lost = "clean" if name == "overflowed" else "update"
                kept = "" if "mode-changed" in named else _kept(found, observations)
                results[lost] = results[lost] or (message and f"{SPECIAL[name][1]}: {message}{kept}")
                slugs += named
        left = (left_message(trial, observations[name]) for name, trial in trials.items())
        results["update"] = results["update"] or next(filter(None, left), "")
        results["loss"], named = loss_message(trials["loss"], observations["loss"])
        slugs += named
        if any(bool(movement(trial, seen).any()) for trial, seen in pairs):  # of the first model only, perhaps
            slugs = [slug for slug in slugs if slug != "parameters-unmoved"]
        if not any(results.values()):
            found = {name: loss_message(trials[name], observations[name]) for name in SPECIAL_LOSSES}
            for name, (message, named) in found.items():
                kept = _kept(found, observations)
                results["loss"] = results["loss"] or (message and f"{SPECIAL_LOSSES[name]}: {message}{kept}")
                slugs += named
        return _verdict(self, results, slugs, observations)


def _kept(found: Mapping[str, Found], observations: Mapping[str, Observation]) -> str:
    """What it may mean that of all ``SPECIAL`` trials only that with several calls is wrong, as another sentence."""
    wrong = [name for name, (message, _) in found.items() if message]
    if wrong != ["again"] or observations["again"].failure:
        return ""
    return " First calls with other models were right. Is something kept between calls?"


def _verdict(
    exercise: Exercise, results: Mapping[str, str], slugs: Iterable[str], observations: Mapping[str, Observation]
) -> Verdict:
    named = tuple(mistake(slug) for slug in dict.fromkeys(slugs))
    return exercise.verdict(results, mistakes=named, failure=first_failure(observations))
