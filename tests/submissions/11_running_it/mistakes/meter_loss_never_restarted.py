"""Averages the loss over the whole run so far."""

EXERCISE = "RunMeter"
MISTAKES = ("loss-never-restarted",)
LOST = ("loss",)


class RunMeter:
    def __init__(self, clock):
        self.clock = clock
        self.total_ever, self.samples_ever = 0.0, 0
        self.restart()

    def restart(self):
        self.total, self.samples, self.count, self.since = 0.0, 0, 0, self.clock()

    def micro_batch(self, loss, samples):
        self.total_ever += loss.item() * samples
        self.samples_ever += samples
        self.samples += samples
        self.count += 1

    def update(self, lr):
        seconds = self.clock() - self.since
        report = {
            "loss": self.total_ever / self.samples_ever,
            "samples_per_second": self.samples / seconds,
            "effective_batch": self.samples,
            "lr": lr,
        }
        self.restart()
        return report
