"""What is wrong with the parameters, norms, dtypes and scale that a loop left, in words for students; unit 06's mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import AmpTrial, ClipTrial

Norms = Sequence[Sequence[float] | None]
"""For each epoch the numbers a loop returned; None if it returned something else."""

CLIP_TOLERANCE = 1e-4
"""``clip_grad_norm_`` adds 1e-6 to the norm it divides by; a loop that does not is right as well. Wrong clipping on these
problems differs by more than 1e-2."""

AMP_TOLERANCE = 0.03
"""A product rounded to bfloat16 is off by up to 0.4 %, and the order of scaling decides which way; wrong loops differ by more
than 10 % on these problems."""


def parameters_message(seen: Observation, due: Observation, tolerance: float) -> str:
    """What is wrong with the parameters after training; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if not _close(seen.tensors["parameters"], due.tensors["parameters"], due, tolerance):
        return "The parameters after training are not those of clipped large-batch training."
    return ""


def _close(found: Tensor, wanted: Tensor, due: Observation, tolerance: float) -> bool:
    """Whether parameters agree, measured against how far the other loop moves them; two that are not finite agree."""
    if found.shape != wanted.shape:
        return False
    ruined = [not torch.isfinite(tensor).all() for tensor in (found, wanted)]
    if any(ruined):
        return all(ruined)
    moved = due.tensors["movements"].double().norm(dim=1).sum()
    return bool((found - wanted).double().norm() <= tolerance * moved)


def autocast_message(seen: Observation, trial: AmpTrial) -> str:
    """What is wrong with the dtypes a model computed in; empty if nothing is, or if no call was seen.

    A model may be called in ways that no hook notices.
    """
    wrong = [name for name in seen.facts.get("dtypes", ()) if name != trial.precision]
    return f"Asked for {trial.precision}, your function computed the model's output in {wrong[0]}." if wrong else ""


def norms_message(seen: Observation, due: Observation, tolerance: float) -> str:
    """What is wrong with the norms returned; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if any(row is None for row in seen.facts["losses"]):
        return "Return a list with one norm for each window, a plain number each."
    if [len(row) for row in seen.facts["losses"]] != [len(row) for row in due.facts["losses"]]:
        return "The list you return does not have one number for each window."
    if not _same_norms(seen.facts["losses"], due.facts["losses"], tolerance):
        return "The numbers returned are not the norms of the windows' gradients before clipping."
    return ""


def _same_norms(found: Norms, due: Norms, tolerance: float) -> bool:
    return len(found) == len(due) and all(
        row is not None
        and right is not None
        and len(row) == len(right)
        and all(abs(one - other) <= tolerance * abs(other) for one, other in zip(row, right, strict=True))
        for row, right in zip(found, due, strict=True)
    )


def clipped_norms(seen: Observation, due: Observation, max_norm: float) -> bool:
    """Whether the numbers returned are the norms after clipping."""
    after = [[min(norm, max_norm) for norm in row] for row in due.facts["losses"]]
    return _same_norms(seen.facts["losses"], after, CLIP_TOLERANCE)


def always_clipped(seen: Observation, due: Observation, trial: ClipTrial) -> bool:
    """Whether, with frozen parameters, each update has the direction that is due and the length of the threshold."""
    found, wanted = (o.tensors["movements"] / trial.loop.problem.lr for o in (seen, due))
    if found.shape != wanted.shape:
        return False
    lengthened = wanted / wanted.norm(dim=1, keepdim=True) * trial.max_norm
    return bool((found - lengthened).norm() <= CLIP_TOLERANCE * lengthened.norm())


def scale_message(seen: Observation, due: Observation) -> str:
    """What is wrong with the scale a scaler was left with; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    return "" if seen.facts["scale"] == due.facts["scale"] else "The scaler's scale after the epoch is not the one that is due."
