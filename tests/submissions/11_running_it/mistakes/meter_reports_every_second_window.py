"""Makes a new report after every second update only, and returns the last one again in between."""

EXERCISE = "RunMeter"
MISTAKES = ()
LOST = ("loss", "throughput", "update", "memory")
SAYS = ("Your meter returns a dictionary again that it has returned before, where a new one is due.",)


class RunMeter:
    def __init__(self, clock):
        self.clock, self.updates = clock, 0
        self.restart()

    def restart(self):
        self.total, self.samples, self.since = 0.0, 0, self.clock()

    def micro_batch(self, loss, samples):
        self.total += loss.item() * samples
        self.samples += samples

    def update(self, lr):
        if self.updates % 2 == 0:
            self.report = {
                "loss": self.total / self.samples,
                "samples_per_second": self.samples / (self.clock() - self.since),
                "effective_batch": self.samples,
                "lr": lr,
            }
        self.updates += 1
        self.restart()
        return self.report
