"""A batch to run a function on, what the function returns, and the model it leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from autograder.contract.observation import Observation
from autograder.observing.loops import plain_losses
from gradaccum.problems import MicroBatch, Problem, joined
from gradaccum.problems.ingredients import TrainingGate
from gradaccum.problems.problem import skewed_errors, skewed_loss

OTHER_SEED = 1000
"""Added to a problem's seed, it gives other samples than any other trial has."""

GOOD_ENOUGH = 0.6
"""Up to this loss a sample costs nothing in a ``hinged`` trial; about a third of the samples have less."""

OTHER_PARAMETERS = 0.25
"""Added to every parameter, it gives others."""


@dataclass(frozen=True)
class BatchTrial:
    """One batch and a model to run it through.

    Attributes:
        problem: has a single epoch, whose micro-batches hold one sample each.
        summed: whether ``loss_fn`` adds the losses of its samples instead of averaging them.
        averaged: whether the mean of the samples' own gradients is asked for, whatever ``loss_fn`` does.
        training: the mode the model is in.
        lr: a learning rate, for functions that take one.
        calls: how often the function is called. The last call counts. Those before it get half the learning rate, and by turns
            the same batch with other parameters and another batch.
        frozen_stale: whether ``.grad`` of a frozen parameter holds something as well, as if it had been frozen only recently.
        mixed: whether the first layer is in the other mode than the model.
        zeros: whether all inputs are zero, so that the gradient of the first layer's weight is zero, too.
        repeated: whether the last sample has the inputs of the first, with another target.
        dropping: whether the model's gate drops values at random in training mode.
        hinged: whether the loss of a sample that is predicted well enough is exactly zero, and so is its gradient.
    """

    problem: Problem
    summed: bool = False
    averaged: bool = False
    training: bool = True
    lr: float = 0.1
    calls: int = 1
    frozen_stale: bool = False
    mixed: bool = False
    zeros: bool = False
    repeated: bool = False
    dropping: bool = False
    hinged: bool = False

    @property
    def samples(self) -> int:
        return len(self.problem.epochs[0])

    @property
    def due(self) -> float:
        """How much of each sample's gradient the result holds if it is right."""
        return 1.0 if self.summed and not self.averaged else 1 / self.samples

    def model(self) -> nn.Module:
        model = self.problem.build_model().train(self.training)
        if self.mixed:
            next(layer for layer in model.modules() if isinstance(layer, nn.Linear)).train(not self.training)
        for parameter in model.parameters():
            if self.frozen_stale and not parameter.requires_grad:
                # Not constant, so that a parameter that is moved by a constant has not moved along it.
                parameter.grad = torch.arange(1.0, 1 + parameter.numel()).to(parameter).view_as(parameter)
        return model

    def loss_fn(self, prediction: Tensor, target: Tensor) -> Tensor:
        """A loss that tells its arguments apart and is none of torch's: its mean, or its sum if the trial is ``summed``.

        The sum needs a row for each sample, even if there is only one.
        """
        if self.hinged:
            return torch.relu(skewed_errors(prediction, target).mean(-1) - GOOD_ENOUGH).mean()
        if not self.summed:
            return skewed_loss(prediction, target)
        if prediction.ndim != 2:
            shape = tuple(prediction.shape)
            raise ValueError(f"loss_fn needs a row for each sample, and the prediction it is given has the shape {shape}")
        samples, outputs = prediction.shape
        return skewed_loss(prediction, target) * samples * outputs

    def batch(self) -> tuple[Tensor, Tensor]:
        """All samples: inputs and targets."""
        return joined(self._samples_of(self.problem))

    def exact(self) -> tuple[nn.Module, list[MicroBatch]]:
        """The problem's model and each sample as a batch of one, on the CPU in float64, to compute what is due."""
        problem = self.problem.with_(device="cpu", dtype="float64")
        return problem.build_model().train(self.training), self._samples_of(problem)

    def _samples_of(self, problem: Problem) -> list[MicroBatch]:
        samples = [(torch.zeros_like(x) if self.zeros else x, y) for x, y in problem.batches()]
        return [*samples[:-1], (samples[0][0], samples[-1][1])] if self.repeated else samples

    def other_batch(self) -> tuple[Tensor, Tensor]:
        """As many other samples, for the calls before the last."""
        return joined(self.problem.with_(seed=self.problem.seed + OTHER_SEED).batches())


@dataclass(frozen=True)
class Draw:
    """Where torch's generator stood, the numbers ``(samples, width)`` drawn then, and the values that they were drawn for.

    Both are None where ``vmap`` drew for several, or ran for several.
    """

    state: Tensor
    samples: int
    numbers: Tensor | None
    values: Tensor | None


class Draws(list[Draw]):
    """What the gate of a model drew, and those of its copies."""

    def __deepcopy__(self, memo: object) -> Draws:
        return self


class DrawingGate(TrainingGate, nn.Dropout):
    """A gate that in training mode draws random numbers, as dropout does, and may drop values by them.

    They come from the CPU's generator wherever the model is, so that the same functions repeat them on every device.

    It notes what it drew, and whether ``vmap`` drew once for all. If its probability is set to 0 it becomes another layer, as
    dropout would.
    """

    def __init__(self, drops: bool) -> None:
        super().__init__()
        self.drops = drops
        self.draws = Draws()
        self._shared_by_vmap = False

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return super().forward(x)
        state, numbers = torch.default_generator.get_state(), torch.rand(x.shape, device="cpu")
        batched, plain = _unwrapped(numbers)
        several, values = _unwrapped(x)
        if several > batched:
            self._shared_by_vmap = True
        known = (None, None) if batched or several else (plain, values.detach().float().cpu().clone())
        self.draws.append(Draw(state, len(x), *known))
        if not self.p:
            return x.cos()
        return dropped(x, numbers) if self.drops else super().forward(x)


def dropped(x: Tensor, numbers: Tensor) -> Tensor:
    """Twice the values of ``x`` where a random number is below 1/2, and 0 elsewhere."""
    return x * (2 * (numbers < 0.5)).to(x)


def _unwrapped(tensor: Tensor) -> tuple[bool, Tensor]:
    """Whether a tensor stands for one of several that ``vmap`` works on, and if not, what is in it."""
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        if functorch.is_batchedtensor(tensor):
            return True, tensor
        tensor = functorch.get_unwrapped(tensor)
    return False, tensor


def _drawing_model(trial: BatchTrial) -> nn.Module:
    """The trial's model; its gate, if it has one, draws random numbers."""
    model = trial.model()
    if trial.problem.gated:
        model.gate = DrawingGate(trial.dropping).train(trial.training)
    return model


def observe_gradients(function: Callable, trial: BatchTrial) -> Observation:
    """Call ``function(model, loss_fn, x, y)``. Returns the tensors it returned by name, and the model as it left it."""
    model = _drawing_model(trial)
    returned, kept = _call(function, model, trial)
    tensors, facts = model_state(model)
    tensors |= _drawn(trial, model)
    facts |= kept
    if not isinstance(returned, dict):
        return Observation(tensors, facts | {"type": type(returned).__name__})
    found = {str(name): value for name, value in returned.items() if isinstance(value, Tensor)}
    tensors |= {f"returned/{name}": value.detach().cpu() for name, value in found.items()}
    facts["no_tensors"] = [str(name) for name in returned if str(name) not in found]
    return Observation(tensors, facts)


def observe_step(function: Callable, trial: BatchTrial) -> Observation:
    """Call ``function(model, loss_fn, x, y, lr)``. Returns the number it returned, and the model as it left it."""
    model = _drawing_model(trial)
    returned, kept = _call(function, model, trial, trial.lr)
    tensors, facts = model_state(model)
    tensors |= _drawn(trial, model)
    facts |= kept
    number = plain_losses([returned])  # a text or True is not a number
    return Observation(tensors, facts | ({"loss": number[0]} if number else {"type": type(returned).__name__}))


MAX_ROWS = 60
"""Samples for which the numbers drawn are looked at; a right function draws for each sample once or a few times."""


def _drawn(trial: BatchTrial, model: nn.Module) -> dict[str, Tensor]:
    """The numbers by which the last call dropped values, and these values, ``(rows, width)``; none if some are unknown.

    There is a row for each sample in each forward pass.
    """
    draws = model.gate.draws if trial.dropping and isinstance(model.gate, DrawingGate) else []
    pairs = [(d.numbers, d.values) for d in draws if d.numbers is not None and d.values is not None and d.numbers.dim() == 2]
    if not 0 < len(pairs) == len(draws) or sum(len(numbers) for numbers, _ in pairs) > MAX_ROWS:
        return {}
    numbers, values = zip(*pairs, strict=True)
    return {"drawn": torch.cat(numbers), "dropped from": torch.cat(values)}


def _call(function: Callable, model: nn.Module, trial: BatchTrial, *rate: float) -> tuple[object, dict[str, Any]]:
    """What the last call returned, whether it left the batch as it was, and what it did to the model and to chance."""
    own = list(model.parameters())
    draws = model.gate.draws if isinstance(model.gate, DrawingGate) else []
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    batch, other, loss_fn = trial.batch(), trial.other_batch(), trial.loss_fn  # the same objects each time
    states, drawn = [], []
    for left in reversed(range(trial.calls)):
        with torch.no_grad():
            for name, p in model.named_parameters():
                p.copy_(before[name] + (left == 2) * OTHER_PARAMETERS)
        draws.clear()
        torch.default_generator.manual_seed(left)
        returned = function(model, loss_fn, *(batch if left != 1 else other), *(r * (0.5 if left else 1) for r in rate))
        states.append(torch.default_generator.get_state())
        drawn.append([draw.state for draw in draws])
    kept = all(torch.equal(now, was) and not now.requires_grad for now, was in zip(batch, trial.batch(), strict=True))
    # Calls began with different seeds, and so do the samples of a call, which are drawn for one after the other.
    reseeded = len(states) > 1 and (
        torch.equal(states[0], states[-1]) or (drawn[0] != [] and _same_states(drawn[0], drawn[-1]))
    )
    alone = [draw.state for draw in draws if draw.samples == 1]
    repeated = trial.samples > 1 and len(alone) > 1 and _same_states(alone, alone[:1] * len(alone))
    repeated = repeated or (trial.samples > 1 and getattr(model.gate, "_shared_by_vmap", False))
    facts: dict[str, Any] = {"data kept": kept, "own parameters": all(any(p is q for q in own) for p in model.parameters())}
    return returned, facts | {"chance": ["seed"] * reseeded + ["same draws"] * repeated}


def _same_states(some: list[Tensor], others: list[Tensor]) -> bool:
    return len(some) == len(others) and all(map(torch.equal, some, others))


def model_state(model: nn.Module) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Copies of a model's parameters and of the gradients that it has, its modes and the names of its trainable parameters."""
    tensors = {f"parameter/{name}": p.detach().cpu().clone() for name, p in model.named_parameters()}
    tensors |= {f"grad/{name}": p.grad.detach().cpu().clone() for name, p in model.named_parameters() if p.grad is not None}
    modes = [module.training for module in model.modules()]
    return tensors, {"modes": modes, "trainable": [name for name, p in model.named_parameters() if p.requires_grad]}


OBSERVERS = {
    "batch_gradient": observe_gradients,
    "average_sample_gradients": observe_gradients,
    "sgd_step": observe_step,
}
