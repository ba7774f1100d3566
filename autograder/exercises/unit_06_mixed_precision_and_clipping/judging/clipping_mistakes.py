"""The mistake in clipping that explains a loop's updates, found by running loops that make one on the same trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from autograder.contract.observation import Observation
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.clipping_loops import clipped_loop
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.clipping_variants import (
    CLIP_MISTAKES,
    CLIPPING_IN_WORDS,
    COMMON,
    LOOP_MISTAKES,
    ClippingVariant,
    can_be_told,
    clipping_candidates,
)
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.messages import CLIP_TOLERANCE, parameters_message
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.replays import replay_clipped
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import ClipTrial
from gradaccum.diagnosis.search import Candidate, each_alone, first_match, pairs


def clipping_mistakes(trial: ClipTrial, seen: Observation, loop_slugs: tuple[str, ...]) -> tuple[str, ...]:
    """The mistake in clipping, in addition to those of the loop, that makes the updates of a trial; empty if none does."""
    base = tuple(slug for slug in loop_slugs if slug not in ("stale-start", "tail-stale"))
    return _first_match(clipping_candidates(base), trial, seen)


def two_mistakes(runs: Mapping[ClipTrial, Observation]) -> tuple[str, ...]:
    """A common mistake of loops and one in clipping that together make the updates of several trials; empty if none do.

    It is for loops that clip even where the threshold is idle, so that no fingerprint shows the first of the two.
    """
    common = [one for one in LOOP_MISTAKES if one.mistakes in COMMON]
    return _first_match_of(pairs(common, each_alone(CLIP_MISTAKES), can_be_told), runs)


def clipping_in_words(trial: ClipTrial, seen: Observation) -> str:
    """What a loop does that is right but for clipping, as a sentence; empty if nothing known makes the updates of a trial."""
    return next(iter(_first_match(each_alone(CLIPPING_IN_WORDS), trial, seen)), "")


def _first_match(candidates: Iterable[Candidate[ClippingVariant]], trial: ClipTrial, seen: Observation) -> tuple[str, ...]:
    return _first_match_of(candidates, {trial: seen})


def _first_match_of(candidates: Iterable[Candidate[ClippingVariant]], runs: Mapping[ClipTrial, Observation]) -> tuple[str, ...]:
    match = first_match(
        candidates,
        runs,
        lambda variant, on: replay_clipped(clipped_loop(variant), on),
        lambda one, other: not parameters_message(one, other, CLIP_TOLERANCE),
    )
    return match.mistakes if match else ()
