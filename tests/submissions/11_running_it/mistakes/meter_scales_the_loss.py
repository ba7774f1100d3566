"""Multiplies the loss that it is given in place, through a view that shares its memory."""

EXERCISE = "RunMeter"
MISTAKES = ()
LOST = ("loss",)


class RunMeter:
    def __init__(self, clock):
        self.clock, self.total, self.samples = clock, 0.0, 0
        self.start = clock()

    def micro_batch(self, loss, samples):
        self.total += loss.detach().mul_(samples).item()
        self.samples += samples

    def update(self, lr):
        start, self.start = self.start, self.clock()
        total, samples, self.total, self.samples = self.total, self.samples, 0.0, 0
        speed = samples / (self.start - start)
        return {"loss": total / samples, "samples_per_second": speed, "effective_batch": samples, "lr": lr}
