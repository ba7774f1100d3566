"""Sets back the samples and the clock, but not the sum of losses."""

EXERCISE = "RunMeter"
MISTAKES = ("loss-sum-never-restarted",)
LOST = ("loss",)


class RunMeter:
    def __init__(self, clock):
        self.clock, self.total, self.samples = clock, 0.0, 0
        self.since = clock()

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
        self.since, self.samples = now, 0
        return report
