"""Models whose saved tensors are to be counted, and observing what a function counts."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.contract.observation import Observation
from autograder.observing.calls import observe_call, plain


@dataclass(frozen=True)
class SavedTrial:
    """A model and a batch, made from a seed.

    Attributes:
        kind: ``"plain"`` (one linear layer), ``"shared"`` (a tensor that two operations keep), ``"deep"`` (weights are kept
            too, one of them frozen, as well as a slice of a parameter, masks, a buffer, and activations of the weights' shape;
            a dropout is in evaluation mode, and a GELU comes first, which would keep x if x required a gradient),
            ``"gated"`` (slices of larger tensors are kept, x among them, but not y).
        samples: in the batch.
        width: of the layers.
    """

    kind: str
    seed: int
    samples: int
    width: int
    device: str
    dtype: str

    def model(self) -> nn.Module:
        """A fresh model, the same on every call."""
        width = self.width
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            kinds: dict[str, Callable[[], nn.Module]] = {
                "plain": lambda: nn.Linear(width, 2),
                "shared": lambda: nn.Sequential(nn.Linear(width, 3), nn.Tanh()),
                "deep": lambda: deep_model(width, self.samples),
                "gated": lambda: GatedUnit(width, 3),
            }
            model = kinds[self.kind]().to(device=self.device, dtype=getattr(torch, self.dtype))
        if isinstance(model, WatchedSequential):
            _put_inside(model[MIDDLE])  # last, as a parameter that moves to another device gets a storage of its own
        return model

    def batch(self) -> tuple[Tensor, Tensor]:
        """Inputs ``(samples, width)`` and targets as the model's predictions; inputs of ``"gated"`` lie in a larger storage."""
        outputs = 2 if self.kind == "plain" else 3
        generator = torch.Generator().manual_seed(self.seed + 1)
        more = 2 if self.kind == "gated" else 0
        shapes = (self.samples + more, self.width + more), (self.samples, outputs)
        x, y = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
        placed = {"device": self.device, "dtype": getattr(torch, self.dtype)}
        return x.to(**placed)[more:, more:], y.to(**placed)

    def smaller(self) -> SavedTrial | None:
        """The same model with a sample fewer, for models that are the same then."""
        return replace(self, samples=self.samples - 1) if self.kind == "plain" else None

    @property
    def loss_fn(self) -> Callable[[Tensor, Tensor], Tensor]:
        """Mean squared error; for ``"gated"`` a loss of which either argument keeps other tensors."""
        return loss_of_sines if self.kind == "gated" else F.mse_loss


def loss_of_sines(prediction: Tensor, target: Tensor) -> Tensor:
    """Compares the first target with a number made of all predictions. Autograd keeps the predictions, but no target."""
    squares = prediction.square()  # whatever has a name here stays until the end, so no address is used twice
    means = squares.mean(1)
    sines = means.sin()
    differences = sines - target[:, 0]
    errors = differences.square()
    return errors.mean()


MIDDLE = 4
"""Which layer of the deep model has a weight that begins inside its storage."""

TRIED = 5000
"""How many times memory is asked for, until it is some that was freed. A process that has run for long has much that is free:
with 400 tries one of 20 runs did not find it."""


class WatchedSequential(nn.Sequential):
    """Linear layers and GELUs, and a buffer, a single number, that scales the output and is kept though no parameter.

    ``_let_go`` says whether an input that a GELU keeps was freed before the forward had ended. Where one was, later ones take
    its place in memory, whatever the allocator would have done.
    """

    scale: Tensor

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__(*layers)
        self._let_go = False
        self.register_buffer("scale", torch.tensor(1.5))

    def forward(self, x: Tensor) -> Tensor:
        outputs: list[tuple[weakref.ref, int]] = []
        for layer in self:
            x = layer(x)
            if isinstance(layer, nn.Linear):
                if torch.is_grad_enabled() and (freed := {place for output, place in outputs if output() is None}):
                    self._let_go = True
                    x = _moved(x, freed)
                outputs.append((weakref.ref(x.untyped_storage()), x.data_ptr()))
        self._let_go |= torch.is_grad_enabled() and any(output() is None for output, _ in outputs)
        return x * self.scale


def _moved(x: Tensor, places: set[int]) -> Tensor:
    """The tensor at one of these addresses, if the allocator gives one of them away again; else as it was."""
    tried: list[Tensor] = []  # kept until one is found, or the allocator would offer the same place again
    while len(tried) < TRIED:
        tried.append(torch.empty_like(x, requires_grad=False))
        if tried[-1].data_ptr() in places:
            return tried[-1].copy_(x)
    return x


def deep_model(width: int, hidden: int, depth: int = 10) -> WatchedSequential:
    """Many layers, so that some activations which are freed too early are sure to have their memory reused by others.

    How sure depends on the allocator: with three layers, or activations below a kilobyte, it happens only sometimes. A GELU
    keeps its input and a linear layer its own, so nothing is kept twice; the frozen layer keeps its weight only. With as many
    samples as hidden units, activations have the shape of weights.
    """
    layers: list[nn.Module] = [nn.GELU(), nn.Linear(width, hidden), nn.GELU(), nn.Dropout(0.3).eval()]
    assert len(layers) == MIDDLE
    for _ in range(depth):
        layers += [nn.Linear(hidden, hidden), nn.GELU()]
    layers += [nn.Linear(hidden, 5).requires_grad_(False), nn.Linear(5, 3)]  # the frozen weight has not as many bytes as y
    return WatchedSequential(*layers, nn.Sequential(Gains(3), nn.Dropout(0.2)))


def _put_inside(layer: nn.Module) -> None:
    """Give a linear layer's weight a storage that begins before it does."""
    assert isinstance(layer, nn.Linear)
    weight = layer.weight.detach()
    layer.weight = nn.Parameter(torch.cat([weight[:1], weight])[1:])


class Gains(nn.Module):
    """Scales by all but the first number of a parameter, which autograd keeps a slice of, and replaces NaN, with equal masks.

    There are three of them. On a GPU dropout keeps a mask of the same size, so with two, counting equal masks once would give
    the number for a dropout in evaluation mode.
    """

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.gains = nn.Parameter(torch.ones(outputs + 1))

    def forward(self, x: Tensor) -> Tensor:
        x = x * self.gains[1:] * self.gains.detach()[1:]  # the second is a view of it, too, but does not say so
        for _ in range(3):
            x = x.masked_fill(x.isnan(), 0.0)
        return x


class GatedUnit(nn.Module):
    """One linear layer whose output is cut in three: a · silu(b) + c. Autograd keeps a and b, unlike slices of one storage.

    What autograd keeps lives as long as the output does, even if ``pack`` lets it go. Otherwise the allocator would decide
    whether its address is used again, and marks would depend on the device. The deep model is there to show that.
    """

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.project = nn.Linear(width, 2 * outputs + 1)
        self.outputs = outputs

    def forward(self, x: Tensor) -> Tensor:
        a, b, c = self.project(x).split((self.outputs, 1, self.outputs), dim=-1)
        gate = F.silu(b)
        output = a * gate + c
        weakref.finalize(output, lambda *kept: None, a, b, gate).atexit = False
        return output


def observe_count(function: Callable, trial: SavedTrial) -> Observation:
    """Call ``function(model, loss_fn, x, y)`` three times. Returns its number, and whether kept tensors were freed too early.

    ``kept`` says whether the model, except for its ``.grad``, and the batch are as they were; ``again`` whether all calls
    returned the same; ``fewer`` is the number that a call returns later for the batch of :meth:`SavedTrial.smaller`, if any.
    """
    model, batch = trial.model(), trial.batch()
    before = _state(model, *batch)
    value, *others = (function(model, trial.loss_fn, *batch) for _ in range(3))
    kept = all(map(torch.equal, before[0], (after := _state(model, *batch))[0])) and before[1:] == after[1:]
    let_go = bool(getattr(model, "_let_go", False))  # for the name of a mistake, never for points
    if isinstance(model, WatchedSequential):
        model._let_go = False
    try:
        found = {"value": plain(value), "again": all(plain(other) == plain(value) for other in others)}
        if smaller := trial.smaller():
            found["fewer"] = plain(function(model, trial.loss_fn, *smaller.batch()))
    except TypeError:
        found = {"type": type(value).__name__}
    return Observation(facts=found | {"kept": kept, "let go": let_go})


def _state(model: nn.Module, *batch: Tensor) -> tuple[list[Tensor], list[bool], list[bool]]:
    """Copies of tensors of a model and a batch, which of them require a gradient, and the modes of layers."""
    tensors = [*batch, *model.parameters(), *model.buffers()]
    modes = [layer.training for layer in model.modules()]
    return [t.detach().clone() for t in tensors], [t.requires_grad for t in tensors], modes


OBSERVERS = {"saved_bytes": observe_count, "memory_line": observe_call, "plan_micro_batches": observe_call}
