"""The mistakes that explain wrong sums of gradients in float32."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.float32_messages import (
    SUM_TOLERANCE,
    stalled,
    sums_distance,
    sums_message,
)
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.float32_sums import (
    last_only_sums,
    piled_up_sums,
    sums_with_old,
)
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import Float32SumTrial

Sums = Mapping[tuple[str, ...], dict[str, Tensor]]
"""By mistakes, the sums by parameter name that they give."""


def wrong_sums(
    ragged_trial: Float32SumTrial, observations: Mapping[str, Observation], sums: Mapping[str, Sums]
) -> tuple[str, ...]:
    """The mistakes that explain what was observed on the trials ``"sums"`` and ``"ragged"``; empty if no known ones do.

    Args:
        ragged_trial: the trial with ragged micro-batches.
        observations: by name of the trial.
        sums: by name of the trial.
    """
    for slugs in sums["sums"]:
        ragged = not sums_message(observations["ragged"], sums["ragged"][slugs], 2 * SUM_TOLERANCE)
        if slugs and ragged and not sums_message(observations["sums"], sums["sums"][slugs]):
            return slugs
        if ragged and stalled(observations["sums"], sums["sums"][slugs]):
            return (*slugs, "low-precision-sum")
    found = observations["ragged"].tensors
    if any(sums_distance(found, stale) <= SUM_TOLERANCE for stale in sums_with_old(ragged_trial)):
        return ("stale-start",)
    if any(sums_distance(found, last) <= SUM_TOLERANCE for last in last_only_sums(ragged_trial)):
        return ("last-only",)
    off, slugs = min((sums_distance(found, piled), slugs) for slugs, piled in piled_up_sums(ragged_trial))
    return slugs if off <= 2 * SUM_TOLERANCE else ()
