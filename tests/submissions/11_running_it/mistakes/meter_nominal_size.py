"""Takes every micro-batch for as large as the first."""

EXERCISE = "RunMeter"
MISTAKES = ("nominal-sizes",)
LOST = ("throughput", "update")


class RunMeter:
    def __init__(self, clock):
        self.clock = clock
        self.restart()

    def restart(self):
        self.total, self.samples, self.count, self.since = 0.0, 0, 0, self.clock()

    def micro_batch(self, loss, samples):
        self.total += loss.item() * samples
        self.size = samples if self.count == 0 else self.size
        self.samples += samples
        self.count += 1

    def update(self, lr):
        seconds = self.clock() - self.since
        report = {
            "loss": self.total / self.samples,
            "samples_per_second": self.size * self.count / seconds,
            "effective_batch": self.size * self.count,
            "lr": lr,
        }
        self.restart()
        return report
