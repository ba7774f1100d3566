"""Keeps the last rate if the new one is zero."""

EXERCISE = "RunMeter"
MISTAKES = ()
LOST = ("update",)


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
        self.lr = lr or self.lr
        report = {
            "loss": self.total / self.samples,
            "samples_per_second": self.samples / (self.clock() - self.since),
            "effective_batch": self.samples,
            "lr": self.lr,
        }
        self.restart()
        return report
