"""Running a contrastive loss on one window of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from autograder.contract.observation import Observation
from autograder.observing.calls import observe_call
from gradaccum.problems import flat_gradients, flat_values, trainable
from gradaccum.problems.contrastive import ContrastiveProblem
from gradaccum.recording import LiveBytes

TOWERS = ("images", "texts")

TENSOR_HOOKS = ("_backward_hooks", "_post_accumulate_grad_hooks")
"""Where torch keeps the hooks of a parameter."""

Towers = dict[str, Tensor]
"""Gradients ``(P,)`` of the two encoders, by :data:`TOWERS`."""


@dataclass(frozen=True)
class ContrastiveTrial:
    """A window of pairs.

    Attributes:
        problem: what is in it, and the encoders.
        meter: whether the bytes alive are counted while a function works on it.
        again: whether the function has been called before, with the first two micro-batches.
    """

    problem: ContrastiveProblem
    meter: bool = False
    again: bool = False


def observe_contrastive(function: Callable, trial: ContrastiveTrial) -> Observation:
    """Call the function; return what ``.grad`` holds, the parameters, the modes and the number that the function returned."""
    *encoders, logit_scale = trial.problem.build()
    towers = dict(zip(TOWERS, map(trainable, encoders), strict=True))
    flags = [parameter.requires_grad for encoder in encoders for parameter in encoder.parameters()]
    hooks = _hooks_on(encoders, logit_scale)
    if trial.again:
        function(*encoders, logit_scale, trial.problem.batches()[:2])
    batches = trial.problem.micro_batches()
    with LiveBytes() if trial.meter else nullcontext() as live:
        returned = function(*encoders, logit_scale, batches)
    tensors = {f"gradient/{name}": flat_gradients(parameters).cpu() for name, parameters in towers.items()}
    tensors |= {f"parameters/{name}": flat_values(parameters).cpu() for name, parameters in towers.items()}
    tensors |= {"gradient/scale": flat_gradients([logit_scale]).cpu(), "parameters/scale": flat_values([logit_scale]).cpu()}
    facts = {
        "training": all(module.training for encoder in encoders for module in encoder.modules()),
        "switched": flags != [parameter.requires_grad for encoder in encoders for parameter in encoder.parameters()],
        "hooked": hooks != _hooks_on(encoders, logit_scale),
        "peak_bytes": live.peak if live else 0,
    }
    return Observation(tensors, facts | _number(returned))


def _hooks_on(encoders: Iterable[nn.Module], logit_scale: nn.Parameter) -> int:
    """How many hooks there are on the encoders, their parts, their parameters and ``logit_scale``."""
    modules = [module for encoder in encoders for module in encoder.modules()]
    parameters = [*(parameter for module in modules for parameter in module.parameters(recurse=False)), logit_scale]
    on_modules = (hooks for module in modules for name, hooks in vars(module).items() if name.endswith("_hooks"))
    on_parameters = (getattr(parameter, name) for parameter in parameters for name in TENSOR_HOOKS)
    return sum(len(hooks) for hooks in (*on_modules, *on_parameters) if hooks is not None)


def _number(returned: Any) -> dict[str, Any]:
    """The ``loss`` that a function returned, or the ``type`` of what it returned instead."""
    if isinstance(returned, bool | str | bytes):
        return {"type": type(returned).__name__}
    try:
        return {"loss": float(returned)}
    except (TypeError, ValueError, RuntimeError):
        return {"type": type(returned).__name__}


OBSERVERS = {"accumulate_contrastive": observe_contrastive, "accumulation_cost": observe_call}
