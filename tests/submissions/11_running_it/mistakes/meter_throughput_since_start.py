"""Averages samples per second since the start."""

EXERCISE = "RunMeter"
MISTAKES = ("throughput-since-start",)
LOST = ("throughput",)


class RunMeter:
    def __init__(self, clock):
        self.clock = clock
        self.began, self.ever = clock(), 0
        self.restart()

    def restart(self):
        self.total, self.samples, self.count, self.since = 0.0, 0, 0, self.clock()

    def micro_batch(self, loss, samples):
        self.total += loss.item() * samples
        self.ever += samples
        self.samples += samples
        self.count += 1

    def update(self, lr):
        report = {
            "loss": self.total / self.samples,
            "samples_per_second": self.ever / (self.clock() - self.began),
            "effective_batch": self.samples,
            "lr": lr,
        }
        self.restart()
        return report
