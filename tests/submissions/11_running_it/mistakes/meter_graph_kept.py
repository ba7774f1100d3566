"""Keeps the losses of a window with their graphs."""

EXERCISE = "RunMeter"
MISTAKES = ("graph-kept",)
LOST = ("memory",)


class RunMeter:
    def __init__(self, clock):
        self.clock = clock
        self.restart()

    def restart(self):
        self.losses, self.samples, self.count, self.since = [], 0, 0, self.clock()

    def micro_batch(self, loss, samples):
        self.losses.append(loss * samples)
        self.samples += samples
        self.count += 1

    def update(self, lr):
        seconds = self.clock() - self.since
        report = {
            "loss": sum(self.losses).item() / self.samples,
            "samples_per_second": self.samples / seconds,
            "effective_batch": self.samples,
            "lr": lr,
        }
        self.everything = self.losses
        self.restart()
        return report
