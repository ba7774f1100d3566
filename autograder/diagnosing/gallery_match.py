"""Name a mistake by example: run the wrong loops of a gallery on the same trials and see whose numbers the student's are.

For loops whose mistakes are not a matter of weights alone (clipping, mixed precision, schedules), where the fingerprint's
:mod:`gradaccum.diagnosis.loops` cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from torch import Tensor

from autograder.contract.observation import Observation

Numbers = dict[str, Tensor]


def lookalike(
    seen: Mapping[str, Observation],
    candidates: Iterable[tuple[tuple[str, ...], Callable[[str], Observation]]],
    alike: Callable[[str, Observation, Observation], bool],
) -> tuple[str, ...]:
    """The mistakes of the first candidate that did on every trial what the student's loop did; empty if none did.

    Args:
        seen: what the student's loop did, by trial.
        candidates: mistakes, and what a loop with these mistakes does on a trial; fewest mistakes first.
        alike: whether two observations of a trial are the same, up to rounding.
    """
    for slugs, observe in candidates:
        if all(alike(name, observation, observe(name)) for name, observation in seen.items()):
            return slugs
    return ()
