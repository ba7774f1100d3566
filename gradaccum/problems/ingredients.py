"""What problems of every kind are made of: seeded numbers, micro-batches, and a layer that has two modes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn

from gradaccum.problems.parameters import trainable

MicroBatch = tuple[Tensor, Tensor]
LossFn = Callable[[Tensor, Tensor], Tensor]
"""``loss_fn(outputs, targets)``, averaged over the samples of its batch."""


def best_dtype(device: str) -> str:
    """``"float64"`` where the device has it, else ``"float32"``."""
    return "float32" if device.startswith("mps") else "float64"


def seeded_generator(seed: int, stream: int) -> torch.Generator:
    """A generator on the CPU: the same seed and stream give the same random numbers, each stream gives others."""
    return torch.Generator(device="cpu").manual_seed((1_000_003 * seed + stream) % 2**63)


def normal_numbers(shape: Sequence[int], generator: torch.Generator, dtype: torch.dtype = torch.float64) -> Tensor:
    """Standard normal numbers on the CPU, the same whatever default device or dtype a student has set."""
    return torch.randn(*shape, generator=generator, dtype=dtype, device="cpu")


def joined(window: list[MicroBatch]) -> MicroBatch:
    """The micro-batches of a window as one large batch."""
    return torch.cat([x for x, _ in window]), torch.cat([y for _, y in window])


class TrainingGate(nn.Module):
    """Stands for dropout and BatchNorm: acts differently in evaluation mode, but without chance."""

    def forward(self, x: Tensor) -> Tensor:
        return x if self.training else x.square()


def fill_with_infinity(parameters: Iterable[nn.Parameter]) -> None:
    """Leave infinity in ``.grad``, as after a loss that overflowed."""
    for parameter in parameters:
        parameter.grad = torch.full_like(parameter, torch.inf)


def fill_stale_gradient(model: nn.Module, seed: int) -> None:
    """Leave a gradient in ``.grad`` as if something else had run before."""
    generator = seeded_generator(seed, 99)
    for parameter in trainable(model):
        parameter.grad = normal_numbers(parameter.shape, generator).to(parameter)
