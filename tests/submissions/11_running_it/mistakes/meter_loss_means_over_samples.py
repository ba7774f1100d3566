"""Divides a sum of mean losses by the number of samples."""

EXERCISE = "RunMeter"
MISTAKES = ("loss-means-over-samples",)
LOST = ("loss",)


class RunMeter:
    def __init__(self, clock):
        self.clock = clock
        self.restart()

    def restart(self):
        self.total, self.samples, self.count, self.since = 0.0, 0, 0, self.clock()

    def micro_batch(self, loss, samples):
        self.total += loss.item()
        self.samples += samples
        self.count += 1

    def update(self, lr):
        seconds = self.clock() - self.since
        report = {
            "loss": self.total / self.samples,
            "samples_per_second": self.samples / seconds,
            "effective_batch": self.samples,
            "lr": lr,
        }
        self.restart()
        return report
