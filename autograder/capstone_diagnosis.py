"""Names for what a capstone run does instead, found by running wrong loops on the same trials and comparing the weights."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import fields

from autograder.capstone_trials import (
    RunTrial,
    WindowTrial,
    history_of,
    run_due,
    weights_like,
    windows_due,
)
from autograder.exercise import Observation
from gradaccum.capstone.loops import RIGHT, Way, ways_of

WEIGHTS = ("token-mean-of-means", "sequences-for-tokens", "padding-counted", "no-scale", "sum-reduction", "double-scale")
CLEARS = ("zero-every", "never-zero", "stale-start", "step-every")
CLIPS = ("clip-too-late", "clip-per-micro-batch", "clip-too-early", "clip-by-value")
SCHEDULES = ("schedule-per-micro-batch", "schedule-before-step", "schedule-never", "schedule-per-epoch")
LOOPS = ("tail-dropped", "tail-stale", "epoch-order-repeated")
FORGOTTEN = {
    ("resume-without-model",): "model",
    ("resume-without-optimizer",): "optimizer",
    ("resume-without-schedule",): "scheduler",
    ("resume-without-history",): "history",
    ("resume-replays-data",): "place",
    ("resume-in-the-wrong-epoch",): "epoch",
    ("resume-starts-over",): "all",
    ("resume-without-optimizer", "resume-without-schedule"): "optimizer scheduler",
}
"""For mistakes in going on what is not restored."""

Candidate = tuple[tuple[str, ...], Way]


def window_mistakes(trials: Mapping[str, WindowTrial], seen: Mapping[str, Observation]) -> tuple[str, ...]:
    """What is wrong in one window: weights and clears first, by the trials that neither clip nor move the rate."""
    plain = {name: seen[name] for name in ("full", "uneven")}
    slugs, way = _first_fit(plain, trials, _with_pairs(WEIGHTS, CLEARS), windows_due)
    if way is None:
        return ()
    for name, others in (("clip", CLIPS), ("schedule", SCHEDULES[:3])):
        candidates = [((), way), *((more, _merged(way, other)) for more, other in ways_of(*others))]
        slugs += _first_fit({name: seen[name]}, trials, candidates, windows_due)[0]
    return slugs


def run_mistakes(trials: Mapping[str, RunTrial], seen: Mapping[str, Observation]) -> tuple[str, ...]:
    """What is wrong in a whole run: first what its updates do, then what it forgets when it goes on."""
    plain = {name: seen[name] for name in ("even", "uneven")}
    all_slugs = (*WEIGHTS, "tail-scale", *CLEARS, *CLIPS, *SCHEDULES, *LOOPS)
    candidates = _with_pairs(WEIGHTS, (*CLIPS, *SCHEDULES, *LOOPS), all_slugs)
    slugs, way = _first_fit(plain, trials, candidates, run_due)
    if way is None:
        return ()
    resumed = seen["resume"]
    if resumed.failure or resumed.facts.get("written") is not True:
        return slugs
    for more, forgotten in (((), ""), *FORGOTTEN.items()):
        other = run_due(trials["resume"], way.with_(forget=forgotten))
        if weights_like(resumed, other, trials["resume"].config) and _same_length(resumed, other):
            return *slugs, *more
    return slugs


def _same_length(seen: Observation, other: Observation) -> bool:
    """Whether two histories tell of as many updates."""
    found, due = history_of(seen), history_of(other)
    return found is None or due is None or len(found["losses"]) == len(due["losses"])


def _with_pairs(first: tuple[str, ...], second: tuple[str, ...], singles: tuple[str, ...] = ()) -> Iterator[Candidate]:
    """The right way, ways with one mistake, then those with one of each sort."""
    yield (), RIGHT
    yield from ways_of(*(singles or (*first, *second)))
    for (one, way), (other, another) in itertools.product(ways_of(*first), ways_of(*second)):
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
