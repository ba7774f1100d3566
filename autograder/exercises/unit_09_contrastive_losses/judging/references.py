"""Running a student's contrastive loss on one window: the gradients it leaves, the loss it reports, and what is due."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_09_contrastive_losses.observing import TOWERS, ContrastiveTrial, Towers, observe_contrastive
from autograder.judging.tolerances import close
from gradaccum.loops.contrastive import cached_features, one_large_batch
from gradaccum.problems import flat_gradients, flat_values, trainable
from gradaccum.problems.contrastive import ContrastiveProblem

MEMORY = 4.0
"""How many times the reference's peak memory a function may use, on long images and texts in 24 micro-batches of two pairs.
Right functions of every kind need less than 1.6 times as much; a window whose graphs are alive together at least 10 times."""

WINDOW = 0.4
"""Part of a large batch's peak memory from which the graphs of the window are said to be alive together: those of one encoder
alone take less, and so may a loss that compares all pairs."""


@dataclass(frozen=True)
class Due:
    """What a right function leaves and returns: gradients of both encoders and of ``logit_scale``, and the window's loss."""

    towers: Towers
    scale: Tensor
    loss: float


@lru_cache(maxsize=64)  # check() asks again and again about the same problems
def due(problem: ContrastiveProblem) -> Due:
    """The reference: the window as one large batch."""
    encode_image, encode_text, logit_scale = problem.build()
    loss = one_large_batch(encode_image, encode_text, logit_scale, problem.batches())
    encoders = zip(TOWERS, (encode_image, encode_text), strict=True)
    towers = {name: flat_gradients(trainable(encoder)).cpu() for name, encoder in encoders}
    return Due(towers, flat_gradients([logit_scale]).cpu(), loss)


def found_towers(problem: ContrastiveProblem, seen: Observation) -> Towers | None:
    """The encoders' gradients as they arrived, or None if they have another shape or are not finite."""
    wanted = due(problem).towers
    found = {}
    for name in TOWERS:
        tensor = seen.tensors.get(f"gradient/{name}")
        if tensor is None or tensor.shape != wanted[name].shape:
            return None
        found[name] = tensor.to(wanted[name])
    return found if all(torch.isfinite(tensor).all() for tensor in found.values()) else None


def same_towers(problem: ContrastiveProblem, found: Towers | None, wanted: Mapping[str, Tensor]) -> bool:
    """Whether the gradients of both encoders are those, up to rounding; each encoder is measured against its own."""
    return found is not None and all(close(found[name], wanted[name], problem.dtype) for name in TOWERS)


def left_alone(problem: ContrastiveProblem, seen: Observation) -> str:
    """What a function changed that it should have left alone, in words; empty if nothing."""
    if changes_parameters(problem, seen):
        return "Your function changed parameters; it should only fill .grad."
    if seen.facts.get("inputs_changed") is not False:
        return "Your function changed the images or texts that it was given, or their list, or whether they require a gradient."
    if seen.facts.get("switched") is not False:
        return "Your function left requires_grad of a parameter switched."
    return "" if seen.facts.get("training") is True else "Your function left an encoder in evaluation mode."


def changes_parameters(problem: ContrastiveProblem, seen: Observation) -> bool:
    """Whether parameters of an encoder, or ``logit_scale``, are not what they were."""
    *encoders, logit_scale = problem.build()
    values = {name: flat_values(trainable(tower)) for name, tower in zip(TOWERS, encoders, strict=True)}
    for name, before in (values | {"scale": flat_values([logit_scale])}).items():
        after = seen.tensors.get(f"parameters/{name}")
        if after is None or not torch.equal(after.to(before.cpu()), before.cpu()):  # what is left alone does not round
            return True
    return False


def holds_several_graphs(trial: ContrastiveTrial, seen: Observation) -> bool:
    """Whether a metered function needed far more memory than one with a single micro-batch's graph alive.

    A count smaller than the gradients that are due, which are alive at the end, is not believed.
    """
    peak = seen.facts.get("peak_bytes")
    if isinstance(peak, bool) or not isinstance(peak, int):
        return True
    gradients = sum(tensor.numel() * tensor.element_size() for tensor in due(trial.problem).towers.values())
    return not gradients <= peak <= MEMORY * _peak_of(cached_features, replace(trial.problem, seed=0))  # any seed's peak


def holds_the_window(trial: ContrastiveTrial, seen: Observation) -> bool:
    """Whether a metered function needed so much memory that it holds the graphs of the window, or of half of it."""
    peak = seen.facts.get("peak_bytes")
    return isinstance(peak, int) and peak >= WINDOW * _peak_of(one_large_batch, replace(trial.problem, seed=0))


@lru_cache(maxsize=32)
def _peak_of(function: Callable, problem: ContrastiveProblem) -> int:
    """The most bytes that are alive at once with a function of the gallery."""
    return observe_contrastive(function, ContrastiveTrial(problem, meter=True)).facts["peak_bytes"]


def reported_loss(seen: Observation) -> float | None:
    """The number a function returned, or None if it returned something else."""
    loss = seen.facts.get("loss")
    return loss if isinstance(loss, float) and math.isfinite(loss) else None
