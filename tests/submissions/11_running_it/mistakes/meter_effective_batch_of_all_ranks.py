"""Counts the samples of all ranks as torchrun numbers them, where those of its own are due."""

import os
from time import perf_counter

EXERCISE = "RunMeter"
MISTAKES = ()
LOST = ("update",)


class RunMeter:
    def __init__(self, clock=perf_counter):
        self.clock, self.ranks = clock, int(os.environ.get("WORLD_SIZE", "1"))
        self.start, self.total, self.samples = clock(), 0.0, 0

    def micro_batch(self, loss, samples):
        self.total += loss.item() * samples
        self.samples += samples

    def update(self, lr):
        now = self.clock()
        report = {
            "loss": self.total / self.samples,
            "samples_per_second": self.samples / (now - self.start),
            "effective_batch": self.samples * self.ranks,
            "lr": lr,
        }
        self.start, self.total, self.samples = now, 0.0, 0
        return report
