"""Running a contrastive loss on one window of pairs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from autograder.contract.observation import Observation
from autograder.observing.calls import observe_call
from gradaccum.kept_state import same_data
from gradaccum.problems import flat_gradients, flat_values, trainable
from gradaccum.problems.contrastive import ContrastiveProblem
from gradaccum.recording import LiveBytes

TOWERS = ("images", "texts")

Towers = dict[str, Tensor]
"""Gradients ``(P,)`` of the two encoders, by :data:`TOWERS`."""


@dataclass(frozen=True)
class ContrastiveTrial:
    """A window of pairs.

    Attributes:
        problem: what is in it, and the encoders.
        meter: whether the bytes alive are counted while a function works on it.
        again: whether the function has been called before: with the first two micro-batches, and with other pairs in
            micro-batches of the same sizes.
    """

    problem: ContrastiveProblem
    meter: bool = False
    again: bool = False


def observe_contrastive(function: Callable, trial: ContrastiveTrial) -> Observation:
    """Call the function; return what ``.grad`` holds, the parameters, the modes and the number that the function returned."""
    *encoders, logit_scale = trial.problem.build()
    towers = dict(zip(TOWERS, map(trainable, encoders), strict=True))
    parameters = [*encoders[0].parameters(), *encoders[1].parameters(), logit_scale]
    flags = [parameter.requires_grad for parameter in parameters]
    if trial.again:
        others = trial.problem.with_(seed=trial.problem.seed + 1)
        for earlier in (trial.problem.batches()[:2], others.batches()):
            function(*encoders, logit_scale, earlier)
    given = trial.problem.batches()
    batches = iter(given) if trial.problem.one_shot else list(given)
    in_evaluation: list[bool] = []
    hooks = [
        encoder.register_forward_pre_hook(lambda module, _: in_evaluation.append(not module.training)) for encoder in encoders
    ]
    with LiveBytes() if trial.meter else nullcontext() as live:
        returned = function(*encoders, logit_scale, batches)
    for hook in hooks:
        hook.remove()
    tensors = {f"gradient/{name}": flat_gradients(parameters).cpu() for name, parameters in towers.items()}
    tensors |= {f"parameters/{name}": flat_values(parameters).cpu() for name, parameters in towers.items()}
    tensors |= {"gradient/scale": flat_gradients([logit_scale]).cpu(), "parameters/scale": flat_values([logit_scale]).cpu()}
    facts = {
        "training": all(module.training for encoder in encoders for module in encoder.modules()),
        "switched": flags != [parameter.requires_grad for parameter in parameters],
        "evaluated": any(in_evaluation),
        "inputs_changed": not same_data(given if trial.problem.one_shot else batches, trial.problem.batches()),
        "peak_bytes": live.peak if live else 0,
    }
    return Observation(tensors, facts | _number(returned))


def _number(returned: Any) -> dict[str, Any]:
    """The ``loss`` that a function returned, or the ``type`` of what it returned instead."""
    if isinstance(returned, bool | str | bytes):
        return {"type": type(returned).__name__}
    try:
        return {"loss": float(returned)}
    except (TypeError, ValueError, RuntimeError):
        return {"type": type(returned).__name__}


OBSERVERS = {"accumulate_contrastive": observe_contrastive, "accumulation_cost": observe_call}
