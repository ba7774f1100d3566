"""Names for what a capstone run does instead, found by running wrong loops on the same trials and comparing the weights."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace

from autograder.contract.observation import Observation
from autograder.exercises.unit_12_capstone.judging.references import (
    history_of,
    run_due,
    same_weights,
    unmoved,
    weights_like,
    windows_due,
)
from autograder.exercises.unit_12_capstone.observing import RunTrial, WindowTrial
from gradaccum.capstone.ways import MISTAKES, RIGHT, Way, ways_of

WEIGHTS = ("token-mean-of-means", "sequences-for-tokens", "padding-counted", "no-scale", "sum-reduction", "double-scale")
CLEARS = ("zero-every", "never-zero", "stale-start", "step-every")
CLIPS = ("clip-too-late", "clip-per-micro-batch", "clip-too-early", "clip-by-value")
SCALED = ("threshold-too-high", "threshold-too-low")
"""Rare, so not looked for beside other mistakes of a whole run."""

SCHEDULES = ("schedule-per-micro-batch", "schedule-before-step", "schedule-never", "schedule-per-epoch")
LOOPS = ("tail-dropped", "tail-stale", "tail-filled", "epoch-order-repeated")
FORGOTTEN = {
    "": (),
    "model": ("resume-without-model",),
    "optimizer": ("resume-without-optimizer",),
    "scheduler": ("resume-without-schedule",),
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
"""By what is not restored, the mistakes in going on."""

PAST_A_LEFTOVER = {"full": "resume-counts-leftover-as-full", "floor": "resume-epoch-without-leftover"}
"""The same for what shows only where a leftover came before the stop."""

DIVIDED_BY_N = (("token-mean-of-means", "tail-scale"), RIGHT.with_(weight="steps"))
"""Two mistakes in one line: ``loss / N``."""

Candidate = tuple[tuple[str, ...], Way]


def window_mistakes(trials: Mapping[str, WindowTrial], seen: Mapping[str, Observation]) -> tuple[str, ...]:
    """What is wrong in one window: weights and clears first, by the trials that neither clip nor move the rate."""
    plain = {name: seen[name] for name in ("full", "uneven")}
    slugs, way = _first_fit(plain, trials, _with_pairs(WEIGHTS, CLEARS), windows_due)
    if way is None:
        return ("weights-unmoved",) if all(unmoved(seen[name], trials[name].config) for name in seen) else ()
    for name, others in (("clip", (*CLIPS, *SCALED)), ("schedule", SCHEDULES[:3])):
        candidates = [((), way), *((more, _merged(way, other)) for more, other in ways_of(*others))]
        slugs += _first_fit({name: seen[name]}, trials, candidates, windows_due)[0]
    return slugs


def run_mistakes(trials: Mapping[str, RunTrial], seen: Mapping[str, Observation]) -> tuple[str, ...]:
    """What is wrong in a whole run: first what its updates do, then what it forgets when it goes on."""
    plain = {name: seen[name] for name in ("even", "uneven")}
    all_slugs = (*WEIGHTS, "tail-scale", *CLEARS, *CLIPS, *SCALED, *SCHEDULES, *LOOPS)
    candidates = (DIVIDED_BY_N, *_with_pairs(WEIGHTS, (*CLIPS, *SCHEDULES, *LOOPS), all_slugs))
    slugs, way = _first_fit(plain, trials, candidates, run_due)
    if way is None:
        return ("weights-unmoved",) if unmoved(seen["even"], trials["even"].config) else ()
    resumed, trial = seen["resume"], trials["resume"]
    if resumed.failure or resumed.facts.get("written") is not True:
        return slugs
    if not weights_like(resumed, run_due(trial, way), trial.config, "stopped"):
        return slugs  # what went on was not what was to be stopped
    for forgotten, more in FORGOTTEN.items():
        if _went_on_like(resumed, run_due(trial, way.with_(forget=forgotten)), trial):
            return *slugs, *(more or _later_mistakes(trials, seen, way))
    changed = {"resume-with-old-config": {"then_norm": trial.config.max_norm}, "resume-stops-late": {"then_stop": None}}
    for slug, settings in changed.items():
        if _went_on_like(resumed, run_due(replace(trial, **settings), way), trial):
            return *slugs, slug
    return slugs


def _later_mistakes(trials: Mapping[str, RunTrial], seen: Mapping[str, Observation], way: Way) -> Iterator[str]:
    """What is wrong only with a second stop, or past a leftover."""
    trial, leftover = trials["resume"], trials["leftover"]
    never_stopped_again = run_due(replace(trial, then_norm=trial.last_norm, then_stop=None), way)
    if same_weights(seen["resume"].tensors.get("last"), never_stopped_again.tensors["final"], trial.config):
        yield "resume-second-stop-not-saved"
    past = ({"": ""} | PAST_A_LEFTOVER).items()
    fits = (slug for what, slug in past if _went_on_like(seen["leftover"], run_due(leftover, way.with_(forget=what)), leftover))
    yield from filter(None, itertools.islice(fits, 1))


def _went_on_like(seen: Observation, other: Observation, trial: RunTrial) -> bool:
    """Whether two runs end with the same weights and as many updates in their histories."""
    found, due = history_of(seen), history_of(other)
    as_many = found is None or due is None or len(found["losses"]) == len(due["losses"])
    return as_many and weights_like(seen, other, trial.config)


def _with_pairs(first: tuple[str, ...], second: tuple[str, ...], singles: tuple[str, ...] = ()) -> Iterator[Candidate]:
    """The right way, ways with one mistake, then those with one of each sort, the first in the way it is usually made."""
    yield (), RIGHT
    yield from ways_of(*(singles or (*first, *second)))
    usual = [((slug,), RIGHT.with_(**MISTAKES[slug][0])) for slug in first]
    for (one, way), (other, another) in itertools.product(usual, ways_of(*second)):
        if another.step == "window":
            yield (*one, *other), _merged(way, another)


def _merged(way: Way, other: Way) -> Way:
    """A way with the changes of both."""
    changes = {f.name: getattr(other, f.name) for f in fields(Way) if getattr(other, f.name) != f.default}
    return way.with_(**changes)


def _first_fit(seen, trials, candidates, due) -> tuple[tuple[str, ...], Way | None]:
    """The first candidate that leaves the same weights on every trial; nothing if none does."""
    for slugs, way in candidates:
        if all(weights_like(one, due(trials[name], way), trials[name].config) for name, one in seen.items()):
            return slugs, way
    return (), None
