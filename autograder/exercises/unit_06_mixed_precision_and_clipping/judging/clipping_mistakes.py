"""The mistake in clipping that explains a loop's updates, found by running loops that make one on the same trial."""

from __future__ import annotations

from autograder.contract.observation import Observation
from autograder.diagnosing.gallery_match import lookalike
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.clipping_loops import clipping_candidates
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.messages import CLIP_TOLERANCE, parameters_message
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.replays import replay_clipped
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import ClipTrial


def clipping_mistakes(trial: ClipTrial, seen: Observation, loop_slugs: tuple[str, ...]) -> tuple[str, ...]:
    """The mistake in clipping, in addition to those of the loop, that makes the updates of a trial; empty if none does."""
    base = tuple(slug for slug in loop_slugs if slug not in ("stale-start", "tail-stale"))
    candidates = [(slugs, lambda name, loop=loop: replay_clipped(loop, trial)) for slugs, loop in clipping_candidates(base)]
    return lookalike({"trial": seen}, candidates, lambda _, a, b: not parameters_message(a, b, CLIP_TOLERANCE))
