"""A batch, and what a function that takes one returns and leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.contract.observation import Observation
from gradaccum.problems import Problem, joined


@dataclass(frozen=True)
class BatchTrial:
    """One batch and a model to run it through.

    Attributes:
        problem: of a single epoch, whose micro-batches hold one sample each.
        summed: whether ``loss_fn`` adds the losses of its samples instead of averaging them.
        training: the mode the model is in.
        lr: a learning rate, for functions that take one.
        frozen_stale: whether ``.grad`` of a frozen parameter holds something as well, as if it had been frozen only lately.
    """

    problem: Problem
    summed: bool = False
    training: bool = True
    lr: float = 0.1
    frozen_stale: bool = False

    @property
    def samples(self) -> int:
        return len(self.problem.epochs[0])

    def model(self) -> nn.Module:
        model = self.problem.build_model().train(self.training)
        if self.frozen_stale:
            for parameter in model.parameters():
                if not parameter.requires_grad:
                    parameter.grad = torch.ones_like(parameter)
        return model

    def loss_fn(self, prediction: Tensor, target: Tensor) -> Tensor:
        """Squared error: its mean, or its sum if the trial is ``summed``."""
        return F.mse_loss(prediction, target, reduction="sum" if self.summed else "mean")

    def batch(self) -> tuple[Tensor, Tensor]:
        return joined(self.problem.batches())


def observe_gradients(function: Callable, trial: BatchTrial) -> Observation:
    """Call ``function(model, loss_fn, x, y)``; bring back the tensors it returned by name, and the model."""
    model = trial.model()
    returned = function(model, trial.loss_fn, *trial.batch())
    tensors, facts = _left_behind(model)
    if not isinstance(returned, dict):
        return Observation(tensors, facts | {"type": type(returned).__name__})
    found = {str(name): value for name, value in returned.items() if isinstance(value, Tensor)}
    tensors |= {f"returned/{name}": value.detach().cpu() for name, value in found.items()}
    facts["no_tensors"] = [str(name) for name in returned if str(name) not in found]
    return Observation(tensors, facts)


def observe_step(function: Callable, trial: BatchTrial) -> Observation:
    """Call ``function(model, loss_fn, x, y, lr)``; bring back the number it returned and the model."""
    model = trial.model()
    returned = function(model, trial.loss_fn, *trial.batch(), trial.lr)
    tensors, facts = _left_behind(model)
    try:
        facts["loss"] = float(returned)
    except (TypeError, ValueError, RuntimeError):
        facts["type"] = type(returned).__name__
    return Observation(tensors, facts)


def _left_behind(model: nn.Module) -> tuple[dict[str, Tensor], dict]:
    """The model as the function left it: parameters, gradients that are there, and modes."""
    tensors = {f"parameter/{name}": p.detach().cpu().clone() for name, p in model.named_parameters()}
    tensors |= {f"grad/{name}": p.grad.detach().cpu().clone() for name, p in model.named_parameters() if p.grad is not None}
    modes = [module.training for module in model.modules()]
    return tensors, {"modes": modes, "trainable": [name for name, p in model.named_parameters() if p.requires_grad]}


OBSERVERS = {
    "batch_gradient": observe_gradients,
    "average_sample_gradients": observe_gradients,
    "sgd_step": observe_step,
}
