"""Updates a mean with every micro-batch, as a dataclass, and logs more than was asked for."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

EXERCISE = "RunMeter"


@dataclass
class RunMeter:
    clock: Callable[[], float]
    mean: float = 0.0
    samples: int = 0
    updates: int = 0

    def __post_init__(self):
        self.since = self.clock()

    @torch.no_grad()
    def micro_batch(self, loss, samples):
        self.samples += samples
        self.mean += (loss.cpu().item() - self.mean) * samples / self.samples

    def update(self, lr):
        now = self.clock()
        self.updates += 1
        report = {"loss": self.mean, "samples_per_second": self.samples / (now - self.since)}
        report |= {"effective_batch": float(self.samples), "lr": lr, "update": self.updates}
        self.mean, self.samples, self.since = 0.0, 0, now
        return report
