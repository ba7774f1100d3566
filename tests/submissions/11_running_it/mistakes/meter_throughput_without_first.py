"""Starts the clock in the first call of micro_batch."""

EXERCISE = "RunMeter"
MISTAKES = ("throughput-without-first",)
LOST = ("throughput",)


class RunMeter:
    def __init__(self, clock):
        self.clock, self.total, self.samples = clock, 0.0, 0
        self.since = clock()

    def micro_batch(self, loss, samples):
        if self.samples == 0:
            self.since = self.clock()
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
