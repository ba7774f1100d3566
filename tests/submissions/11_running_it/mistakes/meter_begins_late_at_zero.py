"""Takes a beginning at 0 for none, and begins with the first micro-batch then."""

from time import perf_counter

EXERCISE = "RunMeter"
MISTAKES = ()
LOST = ("throughput",)


class RunMeter:
    def __init__(self, clock=perf_counter):
        self.clock, self.start, self.total, self.samples = clock, clock(), 0.0, 0

    def micro_batch(self, loss, samples):
        self.start = self.start or self.clock()
        self.total += loss.item() * samples
        self.samples += samples

    def update(self, lr):
        now = self.clock()
        report = {
            "loss": self.total / self.samples,
            "samples_per_second": self.samples / (now - self.start),
            "effective_batch": self.samples,
            "lr": lr,
        }
        self.start, self.total, self.samples = now, 0.0, 0
        return report
