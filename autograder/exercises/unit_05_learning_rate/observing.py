"""Loops with a schedule, and gradients with noise: what functions are run on and what is noted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.observing.calls import CallTrial, observe_call
from autograder.observing.loops import LoopTrial, observe_loop


@dataclass(frozen=True)
class NoiseTrial:
    """Micro-batch gradients of a window: a common part and independent noise.

    Attributes:
        seed: of both.
        count: N, micro-batches.
        size: B, samples in each.
        noise: standard deviation of one sample's component; the common part has components around 1.
        device: where.
    """

    seed: int
    count: int
    size: int
    noise: float
    device: str

    def gradients(self) -> list[Tensor]:
        generator = torch.Generator().manual_seed(self.seed)
        common = torch.randn(30, generator=generator, dtype=torch.float64)
        noise = torch.randn(self.count, 30, generator=generator, dtype=torch.float64)
        return list((common + self.noise / self.size**0.5 * noise).to(self.device))


@dataclass(frozen=True)
class ScheduleTrial:
    """A loop trial and the factors of its schedule, one for each position."""

    loop: LoopTrial
    factors: tuple[float, ...]

    def build_scheduler(self, optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LambdaLR:
        return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: self.factors[min(k, len(self.factors) - 1)])


def observe_scheduled(function: Callable, trial: ScheduleTrial) -> Observation:
    """Run a loop that also takes a scheduler; the schedule goes on from epoch to epoch."""
    schedulers: list = []

    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        if not schedulers:
            schedulers.append(trial.build_scheduler(optimizer))
        return function(model, loss_fn, optimizer, schedulers[0], micro_batches, accumulation_steps)

    return observe_loop(loop, trial.loop)


def observe_noise_scale(function: Callable, trial: NoiseTrial) -> Observation:
    """Call ``function(micro_gradients, micro_batch_size)``; note the number it returned."""
    return observe_call(function, CallTrial((trial.gradients(), trial.size)))


OBSERVERS = {
    "effective_batch_size": observe_call,
    "scale_learning_rate": observe_call,
    "train_with_schedule": observe_scheduled,
    "gradient_noise_scale": observe_noise_scale,
}
