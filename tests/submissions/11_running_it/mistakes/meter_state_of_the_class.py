"""All meters share the lists of the class."""

EXERCISE = "RunMeter"
MISTAKES = ("meters-share-state",)
LOST = ("loss", "throughput", "update", "memory")


class RunMeter:
    seen = []

    def __init__(self, clock):
        self.clock, self.since = clock, clock()

    def micro_batch(self, loss, samples):
        self.seen.append((loss.item(), samples))

    def update(self, lr):
        samples, now = sum(samples for _, samples in self.seen), self.clock()
        loss = sum(value * samples for value, samples in self.seen) / samples
        speed = samples / (now - self.since)
        self.seen.clear()
        self.since = now
        return {"loss": loss, "samples_per_second": speed, "effective_batch": samples, "lr": lr}
