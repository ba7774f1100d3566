"""Rounds the rate to five decimals."""

EXERCISE = "RunMeter"
MISTAKES = ()
LOST = ("update",)


class RunMeter:
    def __init__(self, clock):
        self.clock = clock
        self.restart()

    def restart(self):
        self.total, self.samples, self.count, self.since = 0.0, 0, 0, self.clock()

    def micro_batch(self, loss, samples):
        self.total += loss.item() * samples
        self.samples += samples
        self.count += 1

    def update(self, lr):
        seconds = self.clock() - self.since
        report = {
            "loss": self.total / self.samples,
            "samples_per_second": self.samples / seconds,
            "effective_batch": self.samples,
            "lr": round(lr, 5),
        }
        self.restart()
        return report
