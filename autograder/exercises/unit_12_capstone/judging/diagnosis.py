"""Names for what a capstone run does instead, found by running wrong loops on the same trials and comparing the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_12_capstone.judging.references import (
    history_due,
    history_of,
    run_due,
    same_weights,
    unmoved,
    weights_like,
    windows_due,
)
from autograder.exercises.unit_12_capstone.observing import RunTrial, WindowTrial
from autograder.judging.reported_losses import same_numbers
from gradaccum.capstone.variants import MISTAKES, RIGHT, RunVariant
from gradaccum.diagnosis.search import Candidate, each_alone, first_match, pairs

V = TypeVar("V")
T = TypeVar("T", WindowTrial, RunTrial)

WEIGHTS = ("token-mean-of-means", "sequences-for-tokens", "padding-counted", "no-scale", "sum-reduction", "double-scale")
CLEARS = ("zero-every", "never-zero", "stale-start", "step-every")
CLIPS = ("not-clipped", "clip-per-micro-batch", "clip-too-early", "clip-by-value")
SCALED = ("threshold-too-high", "threshold-too-low")
"""Rare, so a whole run is not searched for them together with other mistakes."""

SCHEDULES = ("schedule-per-micro-batch", "schedule-before-step", "schedule-never", "schedule-per-epoch")
LOOPS = ("tail-dropped", "tail-stale", "tail-filled", "epoch-order-repeated", "epochs-from-one")
FORGOTTEN: dict[str, tuple[str, ...]] = {
    "": (),
    "model": ("resume-without-model",),
    "optimizer": ("resume-without-optimizer",),
    "averages": ("resume-without-optimizer",),
    "scheduler": ("resume-without-schedule",),
    "stepped": ("resume-schedule-ahead",),
    "history": ("resume-without-history",),
    "history place": ("resume-without-history",),  # the place was to follow from it
    "place": ("resume-replays-data",),
    "within": ("resume-repeats-the-epoch",),
    "epoch": ("resume-in-the-wrong-epoch",),
    "one-back": ("resume-one-window-off",),
    "one-ahead": ("resume-one-window-off",),
    "count": ("resume-skips-in-every-epoch",),
    "all": ("resume-starts-over",),
    "optimizer scheduler": ("resume-without-optimizer", "resume-without-schedule"),
}
"""By what is not restored, the mistakes in resuming."""

PAST_A_LEFTOVER: dict[str, tuple[str, ...]] = {
    "": (),
    "full": ("resume-counts-leftover-as-full",),
    "floor": ("resume-epoch-without-leftover",),
}
"""The same for what shows only where a leftover came before the stop."""

DIVIDED_BY_N = Candidate(RIGHT._replace(weight="steps"), ("token-mean-of-means", "tail-scale"))
"""Two mistakes in one line: ``loss / N``."""


EVERY_OVER_N = Candidate(MISTAKES["step-every"][0]._replace(weight="steps"), ("step-every",))
"""The same line in a loop that updates after every micro-batch. Where all of them are clipped, it makes no difference."""

UNDIVIDED = Candidate(MISTAKES["no-scale"][0], ("no-scale",))
"""Under AdamW, which hides a constant factor, it leaves the weights that :data:`DIVIDED_BY_N` leaves."""

WINDOWS_IN_WORDS = {
    "Each micro-batch is divided by the tokens of its window so far, not by those of the whole window.": (
        RIGHT._replace(weight="so-far"),
    ),
    "You divide by a total in which each micro-batch has as many tokens as the first of its window.": (
        RIGHT._replace(weight="first"),
    ),
    "The last micro-batch of a window is not in its update.": (
        RIGHT._replace(weight="last"),
        RIGHT._replace(weight="others"),
    ),
    "You clip each parameter on its own, which turns the gradient. The threshold is for the length of the whole.": (
        RIGHT._replace(clip="parameter"),
    ),
    "You clip the gradients of some parameters only. The threshold is for the length of the whole.": (
        RIGHT._replace(clip="matrices"),
    ),
    "You scale every gradient to the threshold, even one that is shorter.": (RIGHT._replace(clip="always"),),
    "A micro-batch of a single line, fewer than the others of its window have, is not in its update.": (
        RIGHT._replace(weight="whole"),
    ),
    "You make no update where the gradient is much longer than the threshold.": (RIGHT._replace(clip="skip"),),
    "The schedule advances twice for each update.": (RIGHT._replace(schedule="twice"),),
}
"""Rarer ways to train a window, by what they do."""


def window_in_words(trials: Mapping[str, WindowTrial], seen: Mapping[str, Observation]) -> str:
    """What a function does that leaves the same weights as the student's in all windows; empty if nothing known does."""
    names = tuple(name for name in trials if name not in ("single", "nan"))
    match = _first_with_weights(trials, seen, names, each_alone(WINDOWS_IN_WORDS), windows_due)
    return match.mistakes[0] if match else ""


def window_mistakes(trials: Mapping[str, WindowTrial], seen: Mapping[str, Observation]) -> tuple[str, ...]:
    """What is wrong in one window: weights and clears first, by the trials that neither clip nor move the rate."""
    match = _first_with_weights(trials, seen, ("full", "uneven"), _with_pairs(WEIGHTS, CLEARS), windows_due)
    if match is None:
        return ("weights-unmoved",) if all(unmoved(seen[name], trials[name].config) for name in seen) else ()
    slugs, known = match.mistakes, Candidate(match.variant, ())
    for name, others in (("clip", (*CLIPS, *SCALED)), ("schedule", SCHEDULES[:3])):
        candidates = (known, *pairs([known], each_alone(MISTAKES, others)))
        more = _first_with_weights(trials, seen, (name,), candidates, windows_due)
        slugs += more.mistakes if more else ()
    return slugs


def run_mistakes(trials: Mapping[str, RunTrial], seen: Mapping[str, Observation]) -> tuple[str, ...]:
    """What is wrong in a whole run: first what its updates do, then what it forgets when it goes on."""
    all_slugs = (*WEIGHTS, "tail-scale", *CLEARS, *CLIPS, *SCALED, *SCHEDULES, *LOOPS)
    candidates = (DIVIDED_BY_N, EVERY_OVER_N, *_with_pairs(WEIGHTS, (*CLIPS, *SCHEDULES, *LOOPS), all_slugs))
    match = _first_with_weights(trials, seen, ("even", "uneven"), candidates, run_due)
    if match is None:
        return ("weights-unmoved",) if all(unmoved(seen[name], trials[name].config) for name in ("even", "uneven")) else ()
    if match == DIVIDED_BY_N and _reports_the_norms_of(UNDIVIDED.variant, trials["uneven"], seen["uneven"]):
        match = UNDIVIDED
    variant, slugs = match
    resumed, trial = seen["resume"], trials["resume"]
    if resumed.failure or resumed.facts.get("written") is not True:
        return slugs
    if not weights_like(resumed, run_due(trial, variant), trial.config, "stopped"):
        return slugs  # what went on was not what was to be stopped
    if forgot := _first_going_on(resumed, trial, _forgetting(variant, FORGOTTEN), lambda other: run_due(trial, other)):
        more = tuple(forgot.mistakes or _later_mistakes(trials, seen, variant))
        if "schedule-per-epoch" in slugs:  # whose place in the schedule is another one after a stop, too
            more = tuple(slug for slug in more if slug != "resume-without-schedule")
        return *slugs, *more
    changed = {
        "resume-with-old-config": [replace(trial, then_norm=trial.config.max_norm)],
        "resume-stops-late": [replace(trial, then_stop=None)],
    }
    other = _first_going_on(resumed, trial, each_alone(changed), lambda changed: run_due(changed, variant))
    return (*slugs, *other.mistakes) if other else slugs


def _reports_the_norms_of(variant: RunVariant, trial: RunTrial, seen: Observation) -> bool:
    """Whether a run's history has the norms that this variant measures."""
    history, due = history_of(seen), history_due(run_due(trial, variant))
    return history is not None and same_numbers([history["norms"]], [due["norms"]])


def _later_mistakes(trials: Mapping[str, RunTrial], seen: Mapping[str, Observation], variant: RunVariant) -> Iterator[str]:
    """What is wrong only with a second stop, or past a leftover."""
    trial, leftover = trials["resume"], trials["leftover"]
    last, due = seen["resume"].tensors.get("last"), run_due(trial, variant).tensors["last"]
    never_stopped_again = run_due(replace(trial, then_norm=trial.last_norm, then_stop=None), variant).tensors["final"]
    if not same_weights(last, due, trial.config) and same_weights(last, never_stopped_again, trial.config):
        yield "resume-second-stop-not-saved"
    if not same_weights(last, due, trial.config) and same_weights(last, _from_scratch(trial, variant), trial.config):
        yield "resume-starts-over"
    if variant.tail != RIGHT.tail:  # a run that has no updates for leftovers cannot lose its place at one
        return
    forgetting = _forgetting(variant, PAST_A_LEFTOVER)
    if forgot := _first_going_on(seen["leftover"], leftover, forgetting, lambda other: run_due(leftover, other)):
        yield from forgot.mistakes


def _from_scratch(trial: RunTrial, variant: RunVariant) -> Tensor:
    """The weights of the run if its last call goes on from nothing."""
    return run_due(RunTrial(trial.config.with_(max_norm=trial.last_norm)), variant).tensors["final"]


def _forgetting(variant: RunVariant, forgotten: Mapping[str, tuple[str, ...]]) -> Iterator[Candidate[RunVariant]]:
    """Variants that in addition do not restore something, with the mistakes in that alone."""
    for what, mistakes in forgotten.items():
        yield Candidate(variant._replace(forget=what), mistakes)


def _first_going_on(
    seen: Observation, trial: RunTrial, candidates: Iterable[Candidate[V]], play: Callable[[V], Observation]
) -> Candidate[V] | None:
    """The first candidate that ends, after resuming, with the same weights and as many updates in its history."""

    def same(found: Observation, other: Observation) -> bool:
        history, due = history_of(found), history_of(other)
        as_many = history is None or due is None or len(history["losses"]) == len(due["losses"])
        return as_many and weights_like(found, other, trial.config)

    return first_match(candidates, {trial: seen}, lambda variant, _: play(variant), same)


def _with_pairs(
    first: tuple[str, ...], second: tuple[str, ...], singles: tuple[str, ...] = ()
) -> Iterator[Candidate[RunVariant]]:
    """The right variant, those with one mistake, then those with one of each sort, the first in the way it is usually made."""
    yield Candidate(RIGHT, ())
    yield from each_alone(MISTAKES, singles or (*first, *second))
    usual = [Candidate(MISTAKES[slug][0], (slug,)) for slug in first]
    yield from pairs(usual, each_alone(MISTAKES, second), lambda one, other: other.variant.step == "window")


def _first_with_weights(
    trials: Mapping[str, T],
    seen: Mapping[str, Observation],
    names: tuple[str, ...],
    candidates: Iterable[Candidate[RunVariant]],
    play: Callable[[T, RunVariant], Observation],
) -> Candidate[RunVariant] | None:
    """The first candidate that leaves the same weights on every named trial; None if none does."""
    found = {name: (seen[name], trials[name].config) for name in names}
    return first_match(
        candidates,
        found,
        lambda variant, name: play(trials[name], variant),
        lambda found, other: weights_like(found[0], other, found[1]),
    )
