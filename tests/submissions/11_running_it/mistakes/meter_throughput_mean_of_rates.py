"""Reports the mean of the speeds of micro-batches."""

EXERCISE = "RunMeter"
MISTAKES = ("throughput-mean-of-rates",)
LOST = ("throughput",)


class RunMeter:
    def __init__(self, clock):
        self.clock = clock
        self.restart()

    def restart(self):
        self.total, self.samples, self.count, self.rates, self.since = 0.0, 0, 0, [], self.clock()

    def micro_batch(self, loss, samples):
        now = self.clock()
        self.rates.append(samples / (now - self.since))
        self.since = now
        self.total += loss.item() * samples
        self.samples += samples
        self.count += 1

    def update(self, lr):
        report = {
            "loss": self.total / self.samples,
            "samples_per_second": sum(self.rates) / self.count,
            "effective_batch": self.samples,
            "lr": lr,
        }
        self.restart()
        return report
