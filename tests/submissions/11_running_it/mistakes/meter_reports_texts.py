"""Reports formatted numbers."""

EXERCISE = "RunMeter"
MISTAKES = ()
LOST = ("loss", "throughput", "update", "memory")


class RunMeter:
    def __init__(self, clock):
        self.clock = clock
        self.restart()

    def restart(self):
        self.total, self.samples, self.since = 0.0, 0, self.clock()

    def micro_batch(self, loss, samples):
        self.total += loss.item() * samples
        self.samples += samples

    def update(self, lr):
        report = {
            "loss": self.total / self.samples,
            "samples_per_second": self.samples / (self.clock() - self.since),
            "effective_batch": self.samples,
            "lr": lr,
        }
        self.restart()
        return {key: f"{value:.6g}" for key, value in report.items()}
