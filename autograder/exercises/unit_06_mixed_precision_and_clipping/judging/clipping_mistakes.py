"""The mistake in clipping that explains a loop's updates, found by running loops that make one on the same trial."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.contract.observation import Observation
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.clipping_loops import clipped_loop
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.clipping_variants import (
    CLIPPING_IN_WORDS,
    ClippingVariant,
    clipping_candidates,
)
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.messages import CLIP_TOLERANCE, parameters_message
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.replays import replay_clipped
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import ClipTrial
from gradaccum.diagnosis.search import Candidate, each_alone, first_match


def clipping_mistakes(trial: ClipTrial, seen: Observation, loop_slugs: tuple[str, ...]) -> tuple[str, ...]:
    """The mistake in clipping, in addition to those of the loop, that makes the updates of a trial; empty if none does."""
    base = tuple(slug for slug in loop_slugs if slug not in ("stale-start", "tail-stale"))
    return _first_match(clipping_candidates(base), trial, seen)


def clipping_in_words(trial: ClipTrial, seen: Observation) -> str:
    """What a loop does that is right but for clipping, as a sentence; empty if nothing known makes the updates of a trial."""
    return next(iter(_first_match(each_alone(CLIPPING_IN_WORDS), trial, seen)), "")


def _first_match(candidates: Iterable[Candidate[ClippingVariant]], trial: ClipTrial, seen: Observation) -> tuple[str, ...]:
    match = first_match(
        candidates,
        {trial: seen},
        lambda variant, on: replay_clipped(clipped_loop(variant), on),
        lambda one, other: not parameters_message(one, other, CLIP_TOLERANCE),
    )
    return match.mistakes if match else ()
