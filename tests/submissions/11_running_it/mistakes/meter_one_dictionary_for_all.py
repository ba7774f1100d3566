"""Returns the same dictionary each time, which changes what was logged."""

EXERCISE = "RunMeter"
MISTAKES = ()
LOST = ("loss", "throughput", "update", "memory")
SAYS = ("Your meter returns the same dictionary after each update, so each window writes over what the one before reported.",)


class RunMeter:
    def __init__(self, clock):
        self.clock, self.report = clock, {}
        self.restart()

    def restart(self):
        self.total, self.samples, self.since = 0.0, 0, self.clock()

    def micro_batch(self, loss, samples):
        self.total += loss.item() * samples
        self.samples += samples

    def update(self, lr):
        self.report |= {
            "loss": self.total / self.samples,
            "samples_per_second": self.samples / (self.clock() - self.since),
            "effective_batch": self.samples,
            "lr": lr,
        }
        self.restart()
        return self.report
