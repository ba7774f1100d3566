"""What is wrong with the parameters, norms, dtypes and scale that a loop left, in words for students."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from autograder.exercise import Observation
from autograder.precision_trials import AmpTrial

CLIP_TOLERANCE = 1e-4
"""``clip_grad_norm_`` adds 1e-6 to the norm it divides by; a student who does not is right as well. Wrong clipping on these
problems differs by more than 1e-2."""

AMP_TOLERANCE = 0.03
"""A product rounded to bfloat16 is off by up to 0.4 %, and the order of scaling decides which way; wrong loops differ by more
than 10 % on these problems."""

SUM_TOLERANCE = 0.02
"""Weights may be applied before or after rounding to bfloat16 (0.4 %, averaging out over the sum); a running sum in bfloat16
over 600 nearly equal addends stalls and is off by more than 30 %."""


def parameters_message(seen: Observation, due: Observation, tolerance: float) -> str:
    """What is wrong with the parameters after training; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if not _close(seen.tensors["parameters"], due.tensors["parameters"], due, tolerance):
        return "The parameters after training are not those of clipped large-batch training."
    return ""


def _close(found: Tensor, wanted: Tensor, due: Observation, tolerance: float) -> bool:
    """Whether parameters agree, measured against how far the other loop moves them; two ruined ones do."""
    if found.shape != wanted.shape:
        return False
    ruined = [not torch.isfinite(tensor).all() for tensor in (found, wanted)]
    if any(ruined):
        return all(ruined)
    moved = due.tensors["movements"].double().norm(dim=1).sum()
    return bool((found - wanted).double().norm() <= tolerance * moved)


def autocast_message(seen: Observation, trial: AmpTrial) -> str:
    """What is wrong with the dtypes a model computed in. None has to be seen: it may be called in ways that no hook notices."""
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


def _same_norms(found, due, tolerance: float) -> bool:
    if any(row is None for row in found) or [len(row) for row in found] != [len(row) for row in due]:
        return False
    pairs = ((f, d) for a, b in zip(found, due, strict=True) for f, d in zip(a, b, strict=True))
    return all(abs(f - d) <= tolerance * abs(d) for f, d in pairs)


def clipped_norms(seen: Observation, due: Observation, max_norm: float) -> bool:
    """Whether the numbers returned are the norms after clipping."""
    after = [[min(norm, max_norm) for norm in row] for row in due.facts["losses"]]
    return _same_norms(seen.facts["losses"], after, CLIP_TOLERANCE)


def scale_message(seen: Observation, due: Observation) -> str:
    """What is wrong with the scale a scaler was left with; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    return "" if seen.facts["scale"] == due.facts["scale"] else "The scaler's scale after the epoch is not the one that is due."


def sums_message(seen: Observation, due: dict[str, Tensor], tolerance: float = SUM_TOLERANCE) -> str:
    """What is wrong with sums of gradients by parameter name; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if "type" in seen.facts:
        return f"Your function returned {seen.facts['type']} where a dictionary of tensors by parameter name was due."
    if seen.tensors.keys() != due.keys() or any(seen.tensors[name].shape != due[name].shape for name in due):
        return "Return one tensor for each named parameter, of its shape."
    if not sums_distance(seen.tensors, due) <= tolerance:
        return "The tensors are not the gradient of the mean loss over all samples."
    return ""


def sums_distance(found: dict[str, Tensor], due: dict[str, Tensor]) -> float:
    """Length of the difference over that of what is due; infinite if names or shapes differ."""
    if found.keys() != due.keys() or any(found[name].shape != due[name].shape for name in due):
        return torch.inf
    a, b = _flat(found, due), _flat(due, due)
    return float((a - b).norm() / b.norm())


def stalled(seen: Observation, due: dict[str, Tensor]) -> bool:
    """Whether sums point the right way but stopped growing: in bfloat16 somewhere between a fifth and six sevenths."""
    if seen.tensors.keys() != due.keys():
        return False
    found, wanted = _flat(seen.tensors, due), _flat(due, due)
    cosine = torch.nn.functional.cosine_similarity(found, wanted, dim=0)
    return bool(cosine > 0.9 and 0.2 < found.norm() / wanted.norm() < 0.85)


def _flat(tensors: dict[str, Tensor], names: Iterable[str]) -> Tensor:
    return torch.cat([tensors[name].double().reshape(-1) for name in sorted(names)])
