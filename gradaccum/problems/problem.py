"""Small, seeded, deterministic training problems.

A :class:`Problem` is a handful of numbers from which the same model, loss and micro-batches can be remade at any time, in
any process: it is data, so it may be stored, compared and sent elsewhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gradaccum.problems.ingredients import (
    LossFn,
    MicroBatch,
    TrainingGate,
    fill_stale_gradient,
    fill_with_infinity,
    normal_numbers,
    seeded_generator,
)
from gradaccum.problems.parameters import trainable

FEATURES, OUTPUTS = 4, 2

SPIKE = 40
"""How many times as large the targets of a micro-batch with outliers are."""


@dataclass(frozen=True)
class Problem:
    """A regression problem, cut into micro-batches.

    Attributes:
        seed: fixes weights and data.
        accumulation_steps: N, micro-batches per window.
        epochs: for each epoch the sizes of its micro-batches, in samples.
        lr, momentum: of the SGD optimizer; with momentum an update depends on those before it, so one made by hand shows.
        width, depth: units per hidden layer, number of hidden layers.
        grouped: how many times the rate of the weights that of the biases is, which are then a group of parameters of their
            own in the optimizer; 0 for a single group.
        stale: whether ``.grad`` holds something before the first epoch.
        overflowed: whether ``.grad`` holds infinity before every epoch, as after a loss that overflowed.
        one_shot: whether an epoch's micro-batches come as a generator without a length instead of a list.
        extras: whether the model also has a frozen and an unused parameter.
        renamed: whether these two have other names than usual, so that a function cannot know them by name, and the model has a
            parameter of its own, outside of its layers, that scales its outputs.
        tied: whether two of the model's hidden layers share a weight, for which it needs three of them.
        gated: whether the model has a layer that acts differently in training and in evaluation mode.
        coupled: whether the samples of one forward act on each other, so that the gradient shows which of them went through
            the model together.
        skewed: whether the loss tells its arguments apart and is none of torch's own, so that a loop must use the one it is
            given, as it is given.
        loud: what the model multiplies its outputs by. Loud, its gradients are longer than any that one would clip.
        outputs: numbers that the model predicts for each sample. With a single one, predictions that have lost a dimension are
            compared with the targets of all samples.
        spiked: whether the last micro-batch of the first epoch has targets forty times as large as the others have.
        rank: whose micro-batches these are; other ranks have the same model and other samples.
        device, dtype: where and in which precision; strings, so that a problem stays plain data.
    """

    seed: int = 0
    accumulation_steps: int = 4
    epochs: tuple[tuple[int, ...], ...] = ((2, 2, 2, 2),)
    lr: float = 0.1
    momentum: float = 0.0
    width: int = 6
    depth: int = 1
    grouped: float = 0.0
    stale: bool = False
    overflowed: bool = False
    one_shot: bool = False
    extras: bool = False
    renamed: bool = False
    tied: bool = False
    gated: bool = False
    coupled: bool = False
    skewed: bool = False
    loud: float = 1.0
    outputs: int = OUTPUTS
    spiked: bool = False
    rank: int = 0
    device: str = "cpu"
    dtype: str = "float64"

    def __post_init__(self) -> None:
        if self.accumulation_steps < 1:
            raise ValueError(f"accumulation_steps must be at least 1, not {self.accumulation_steps}")
        if not self.epochs or any(not sizes or min(sizes) < 1 for sizes in self.epochs):
            raise ValueError(f"every epoch needs micro-batches of at least one sample, not {self.epochs}")

    @property
    def torch_dtype(self) -> torch.dtype:
        return getattr(torch, self.dtype)

    def build_model(self) -> nn.Module:
        """A fresh model in training mode, the same on every call; ``.grad`` filled if the problem is ``stale``."""
        generator = seeded_generator(self.seed, 0)
        with _on_the_cpu(), torch.random.fork_rng(devices=[]):  # layers draw weights, which are not kept
            model = self.new_model()
        for parameter in model.parameters():
            parameter.data = normal_numbers(parameter.shape, generator) / parameter.shape[-1] ** 0.5
        model.to(device=self.device, dtype=self.torch_dtype)
        if self.stale:
            fill_stale_gradient(model, self.seed)
        if self.overflowed:
            fill_with_infinity(trainable(model))
        return model

    def new_model(self) -> nn.Module:
        """A model whose weights and place are yet to be set."""
        model = ProbeModel(self.width, self.depth, self.extras, self.gated, self.coupled, self.outputs, self.tied, self.loud)
        return renamed(model) if self.renamed else model

    def build_optimizer(self, model: nn.Module) -> torch.optim.SGD:
        every = list(model.parameters())
        groups: list[dict[str, Any]] = [{"params": every}]
        if self.grouped:
            groups = [
                {"params": [p for p in every if p.dim() > 1]},
                {"params": [p for p in every if p.dim() <= 1], "lr": self.lr * self.grouped},
            ]
        return torch.optim.SGD(groups, lr=self.lr, momentum=self.momentum)

    @property
    def loss_fn(self) -> LossFn:
        """Mean squared error, averaged over the samples of its batch; another loss if the problem is ``skewed``."""
        return skewed_loss if self.skewed else F.mse_loss

    def batches(self, epoch: int = 0) -> list[MicroBatch]:
        """The micro-batches of one epoch: x of shape ``(size, 4)``, y of shape ``(size, outputs)``."""
        sizes = self.epochs[epoch]
        generator = seeded_generator(self.seed, 1 + epoch + 1000 * self.rank)
        x = normal_numbers((sum(sizes), FEATURES), generator)
        y = normal_numbers((sum(sizes), self.outputs), generator)
        if self.spiked and epoch == 0:
            y[-sizes[-1] :] *= SPIKE
        x, y = (t.to(device=self.device, dtype=self.torch_dtype) for t in (x, y))
        return list(zip(x.split(list(sizes)), y.split(list(sizes)), strict=True))

    def micro_batches(self, epoch: int = 0) -> list[MicroBatch] | Iterator[MicroBatch]:
        """What a loop is given: a list, or a generator if the problem is ``one_shot``."""
        batches = self.batches(epoch)
        return (batch for batch in batches) if self.one_shot else batches

    def with_(self, **changes: Any) -> Problem:
        """A copy with some attributes changed."""
        return replace(self, **changes)


def _on_the_cpu() -> AbstractContextManager[object]:
    """New tensors are on the CPU inside the block, whatever the default device is.

    A device given to torch makes building a model a third slower, so none is given where the CPU is the default already.
    """
    return nullcontext() if torch.get_default_device().type == "cpu" else torch.device("cpu")


def skewed_loss(prediction: Tensor, target: Tensor) -> Tensor:
    """The mean of :func:`skewed_errors`."""
    return skewed_errors(prediction, target).mean()


def skewed_errors(prediction: Tensor, target: Tensor) -> Tensor:
    """Squared errors, of which those above the target count up to three times as much as those below."""
    error = prediction - target
    return error.square() * (2 + torch.tanh(error))


def coupling(x: Tensor) -> Tensor:
    """What a coupled model multiplies its outputs by, from all samples of a forward.

    Stands for BatchNorm, but keeps nothing between forwards. Of the input: deep, narrow layers forget their samples.
    """
    return 1 + x.square().mean()


def renamed(model: ProbeModel) -> ProbeModel:
    """The model, with other names for its frozen and its unused parameter, and with a parameter outside of its layers."""
    for old, new in (("shift", "offset"), ("unused", "spare")):
        model.register_parameter(new, getattr(model, old))
        delattr(model, old)
    model.register_parameter("gain", nn.Parameter(torch.ones(model.head.out_features)))
    return model


class ProbeModel(nn.Module):
    """A small multi-layer perceptron with tanh units."""

    def __init__(
        self,
        width: int,
        depth: int,
        extras: bool,
        gated: bool,
        coupled: bool = False,
        outputs: int = OUTPUTS,
        tied: bool = False,
        loud: float = 1.0,
    ):
        super().__init__()
        sizes = [FEATURES, *([width] * depth)]
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        if tied:
            self.hidden[2].weight = self.hidden[1].weight
        self.gate = TrainingGate() if gated else nn.Identity()
        self.coupled, self.loud = coupled, loud
        self.head = nn.Linear(width, outputs)
        if extras:
            self.shift = nn.Parameter(torch.zeros(width), requires_grad=False)
            self.unused = nn.Parameter(torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        together = coupling(x) if self.coupled else None
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        shift = getattr(self, "shift", getattr(self, "offset", None))
        if shift is not None:
            x = x + shift
        out = self.head(self.gate(x))
        out = out * gain if (gain := getattr(self, "gain", None)) is not None else out
        out = out if self.loud == 1 else out * self.loud
        return out if together is None else out * together
