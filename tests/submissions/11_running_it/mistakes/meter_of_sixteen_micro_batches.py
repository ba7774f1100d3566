"""Remembers sixteen micro-batches at most."""

from collections import deque
from time import perf_counter

EXERCISE = "RunMeter"
MISTAKES = ()
LOST = ("loss", "throughput", "update", "memory")


class RunMeter:
    def __init__(self, clock=perf_counter):
        self.clock, self.start, self.recent = clock, clock(), deque(maxlen=16)

    def micro_batch(self, loss, samples):
        self.recent.append((loss.item(), samples))

    def update(self, lr):
        now, n = self.clock(), sum(samples for _, samples in self.recent)
        loss = sum(loss * samples for loss, samples in self.recent) / n
        seconds, self.start = now - self.start, now
        self.recent.clear()
        return {"loss": loss, "samples_per_second": n / seconds, "effective_batch": n, "lr": lr}
