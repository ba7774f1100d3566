"""What a wrong loop in mixed precision does: names of mistakes, or a sentence where there is no name."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from autograder.contract.observation import Observation
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.amp_results import FORWARDS, AmpResults
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.clipping_loops import amp_loop
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.clipping_variants import (
    REPLACED,
    SCALING_IN_WORDS,
    ClippingVariant,
    amp_candidates,
)
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.messages import (
    AMP_TOLERANCE,
    STAYING,
    calls_message,
    clipped_norms,
    in_another_dtype,
    lengths_in_words,
    movements_in_words,
    parameters_message,
    scale_message,
    scales_in_words,
)
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.replays import replay_amp
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import SCALER_CALLS, AmpTrial
from autograder.judging.left_behind import outside_message
from gradaccum.diagnosis.search import each_alone, first_match

ALONE = (
    "no accumulation",
    "cut",
    "telling",
    "usual scale",
    "cancelling",
    "infinite",
    "overflowed",
    "together",
    "clip alone",
    "inf leftover",
)
"""Trials that are judged by themselves, and not with the others to find mistakes."""

NO_CALLS = "You call none of unscale_, step and update of the scaler that you are given."

Trials = Mapping[str, AmpTrial]
Observations = Mapping[str, Observation]


def to_search(observations: Observations) -> dict[str, Observation]:
    """The observations in which mistakes are searched for."""
    return {name: seen for name, seen in observations.items() if name not in ALONE}


def amp_diagnosis(
    trials: Trials, observations: Observations, due: Observations, found: AmpResults
) -> tuple[tuple[str, ...], str]:
    """The slugs of the mistakes, and a sentence instead, which is empty if there is a slug or nothing to say."""
    several = to_search(observations)
    shown = {name: seen for name, seen in several.items() if found.whole or name != "leftover"}
    shown = {"together": observations["together"]} if found.together else shown  # all else is right

    def replayed(variant: ClippingVariant, name: str) -> Observation:
        return replay_amp(amp_loop(variant), trials[name])

    match = first_match(amp_candidates(), shown, replayed, _alike)
    slugs = match.mistakes if match else ()
    if not observations["float16"].facts["scaler_steps"]:  # both updates are the optimizer's
        slugs = tuple(slug for slug in slugs if slug != "steps-twice")
    broken = several["inf"].facts
    replaced = "inf-left-out" in slugs and broken["backwards"] == broken["micro_batches_seen"]  # left out it is not
    if replaced:
        slugs = tuple(slug for slug in slugs if slug != "inf-left-out")
    outside = outside_message(observations["float16"])
    slugs = _with_what_the_search_misses(slugs, trials, observations, due, found, outside)
    if slugs:
        return slugs, ""
    if replaced:
        return (), REPLACED
    rare = None if match else first_match(each_alone(SCALING_IN_WORDS), shown, replayed, _as_often)
    return (), rare.mistakes[0] if rare else outside or _in_words(trials, observations, due, found)


def _alike(seen: Observation, other: Observation) -> bool:
    return not (other.failure or parameters_message(seen, other, AMP_TOLERANCE) or scale_message(seen, other))


def _as_often(seen: Observation, other: Observation) -> bool:
    return _alike(seen, other) and seen.facts["scaler_updates"] == other.facts["scaler_updates"]


def _with_what_the_search_misses(
    slugs: tuple[str, ...], trials: Trials, observations: Observations, due: Observations, found: AmpResults, outside: str
) -> tuple[str, ...]:
    """The slugs of mistakes, given those that the search has found."""
    if observations["float16"].facts["backwards"] < sum(map(len, trials["float16"].loop.problem.epochs)):
        # A gradient that never existed looks like one that was cleared.
        slugs = tuple("detached" if slug == "zero-every" else slug for slug in slugs)
    if any(seen.facts["converted"] for seen in observations.values()):
        slugs = ("model-converted",)
    elif outside:
        slugs = ()
    elif found.rounded or any(in_another_dtype(observations[name], trials[name]) for name in FORWARDS):
        slugs += ("rounded-otherwise",)
    clip = observations["clip"]
    if found.messages["clip"] and not found.said["clip"] and clipped_norms(clip, due["clip"], trials["clip"].max_norm):
        slugs += ("norm-after-clip",)
    infinite = (observations[name].tensors["parameters"] for name in ("infinite", "inf leftover"))
    if found.applied and not all(torch.isfinite(parameters).all() for parameters in infinite):
        slugs += ("inf-applied",)
    return slugs


def _in_words(trials: Trials, observations: Observations, due: Observations, found: AmpResults) -> str:
    """What sets a loop apart in which no known mistake was found, as a sentence; empty if nothing does."""
    if not any(seen.facts[call] for seen in observations.values() for call in SCALER_CALLS):
        return NO_CALLS
    several = to_search(observations)
    for name, seen in several.items():
        if said := outside_message(seen) or calls_message(seen, due[name]):
            return said
    if said := scales_in_words({name: (trials[name].scale, observations[name], due[name]) for name in STAYING}):
        return said
    for name, wrong in {"float16": found.moves, "together": found.together}.items():
        said = movements_in_words(trials[name], observations[name])
        said = said or lengths_in_words(observations[name], due[name], trials[name].scale)
        if wrong and said:
            return said
    return ""
