"""The fingerprint of a student's own loop on two ranks."""

from __future__ import annotations

from collections.abc import Callable

from autograder.exercises.unit_10_distributed.judging.references import expected_fingerprint, rank_fingerprint, ranks_seen
from autograder.exercises.unit_10_distributed.observing import RanksTrial, observe_ranks
from autograder.observing.loops import LoopTrial
from gradaccum.fingerprint_words import say
from gradaccum.notebook.showing import Picture, show_fingerprints
from gradaccum.problems import Problem

TWO_WINDOWS = RanksTrial(LoopTrial(Problem(seed=10, accumulation_steps=3, epochs=((2,) * 6,), width=8), frozen=True))


def draw(function: Callable) -> Picture:
    """Rank 0's updates, over the six micro-batches of rank 0 and then the six of rank 1.

    Raises:
        RuntimeError: a rank failed.
    """
    seen = observe_ranks(function, TWO_WINDOWS)
    if seen.failure:
        raise RuntimeError(seen.failure.message)
    name, due = getattr(function, "__name__", "your loop"), expected_fingerprint(TWO_WINDOWS)
    found = rank_fingerprint(TWO_WINDOWS, ranks_seen(TWO_WINDOWS, seen)[0])
    caption = f"{name} {say(found, due)}. Micro-batches 1 to 6 are those of rank 0, and 7 to 12 those of rank 1."
    return show_fingerprints({"a right loop": due, name: found}, columns=2, due=due, caption=caption)


PICTURES = {"ddp_train_epoch": draw}
