"""Takes the backward pass for its own task, so the graph of each loss is used twice."""

EXERCISE = "RunMeter"
MISTAKES = ()
LOST = ("loss", "throughput", "update", "memory")


class RunMeter:
    def __init__(self, clock):
        self.clock, self.total, self.samples = clock, 0.0, 0
        self.start = clock()

    def micro_batch(self, loss, samples):
        loss.backward()
        self.total += loss.item() * samples
        self.samples += samples

    def update(self, lr):
        start, self.start = self.start, self.clock()
        total, samples, self.total, self.samples = self.total, self.samples, 0.0, 0
        speed = samples / (self.start - start)
        return {"loss": total / samples, "samples_per_second": speed, "effective_batch": samples, "lr": lr}
