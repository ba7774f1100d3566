"""Reads a clock of its own."""

from time import perf_counter

EXERCISE = "RunMeter"
MISTAKES = ()
LOST = ("throughput",)


class RunMeter:
    def __init__(self, clock):
        self.clock, self.total, self.samples = perf_counter, 0.0, 0
        self.since = perf_counter()

    def micro_batch(self, loss, samples):
        self.total += loss.item() * samples
        self.samples += samples

    def update(self, lr):
        now = self.clock()
        report = {
            "loss": self.total / self.samples,
            "samples_per_second": self.samples / (now - self.since),
            "effective_batch": self.samples,
            "lr": lr,
        }
        self.since, self.total, self.samples = now, 0.0, 0
        return report
