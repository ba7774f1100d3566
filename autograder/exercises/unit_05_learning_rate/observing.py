"""Loops with a schedule, and gradients with noise: what functions are run on, and observing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from autograder.contract.observation import Observation
from autograder.observing.calls import CallTrial, observe_number
from autograder.observing.loops import LoopTrial, observe_loop
from gradaccum.problems import MicroBatch


@dataclass(frozen=True)
class NoiseTrial:
    """Micro-batch gradients of a window: a common part plus independent noise.

    Attributes:
        seed: of both parts.
        count: N, micro-batches.
        size: B, samples in each.
        noise: standard deviation of one sample's component.
        common: standard deviation of the components of the common part.
        device: where the gradients are.
    """

    seed: int
    count: int
    size: int
    noise: float
    common: float
    device: str

    def gradients(self) -> list[Tensor]:
        """One tensor ``(30,)`` for each micro-batch, in float64."""
        generator = torch.Generator().manual_seed(self.seed)
        common = torch.randn(30, generator=generator, dtype=torch.float64)
        noise = torch.randn(self.count, 30, generator=generator, dtype=torch.float64)
        noise -= noise.mean(0)  # the mean gradient is the common part, so no draw decides on the sign of an estimate
        return list((self.common * common + self.noise / self.size**0.5 * noise).to(self.device))


@dataclass(frozen=True)
class ScheduleTrial:
    """A loop trial and the factors of its schedule, one for each position.

    A ``chained`` schedule computes each rate from the one before, as ``ExponentialLR`` does: asked for its rate while it stands
    still, it gives the next one.
    """

    loop: LoopTrial
    factors: tuple[float, ...]
    chained: bool = False

    def build_scheduler(self, optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LRScheduler:
        if not self.chained:
            return torch.optim.lr_scheduler.LambdaLR(optimizer, self._factor)
        for group in optimizer.param_groups:
            group["lr"] *= self.factors[0]
        return torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda k: self._factor(k) / self._factor(k - 1))

    def _factor(self, position: int) -> float:
        return self.factors[min(position, len(self.factors) - 1)]


def observe_scheduled(function: Callable, trial: ScheduleTrial) -> Observation:
    """Run a loop that also takes a scheduler, which goes on from epoch to epoch."""
    schedulers: list[torch.optim.lr_scheduler.LRScheduler] = []

    def loop(
        model: nn.Module,
        loss_fn: Callable,
        optimizer: torch.optim.Optimizer,
        micro_batches: Iterable[MicroBatch],
        accumulation_steps: int,
    ) -> object:
        if not schedulers:
            schedulers.append(trial.build_scheduler(optimizer))
        return function(model, loss_fn, optimizer, schedulers[0], micro_batches, accumulation_steps)

    return observe_loop(loop, trial.loop)


def observe_noise_scale(function: Callable, trial: NoiseTrial) -> Observation:
    """Call ``function(micro_gradients, micro_batch_size)``. Returns the number it returned."""
    return observe_number(function, CallTrial((trial.gradients(), trial.size)))


OBSERVERS = {
    "effective_batch_size": observe_number,
    "scale_learning_rate": observe_number,
    "train_with_schedule": observe_scheduled,
    "gradient_noise_scale": observe_noise_scale,
}
