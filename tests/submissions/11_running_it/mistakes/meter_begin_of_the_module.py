"""All meters share the time at which a window began."""

EXERCISE = "RunMeter"
MISTAKES = ()
LOST = ("throughput",)


since = 0.0


class RunMeter:
    def __init__(self, clock):
        global since
        self.clock, self.seen, since = clock, [], clock()

    def micro_batch(self, loss, samples):
        self.seen.append((loss.item(), samples))

    def update(self, lr):
        global since
        samples, now = sum(samples for _, samples in self.seen), self.clock()
        loss = sum(value * samples for value, samples in self.seen) / samples
        speed = samples / (now - since)
        self.seen.clear()
        since = now
        return {"loss": loss, "samples_per_second": speed, "effective_batch": samples, "lr": lr}
