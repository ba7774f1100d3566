"""Divides the sum of the losses of every window by the number of micro-batches in the first one."""

EXERCISE = "RunMeter"
MISTAKES = ("loss-mean-of-means",)
LOST = ("loss",)


class RunMeter:
    def __init__(self, clock):
        self.clock, self.since, self.steps = clock, clock(), None
        self.losses, self.samples = [], 0

    def micro_batch(self, loss, samples):
        self.losses.append(loss.item())
        self.samples += samples

    def update(self, lr):
        now, self.steps = self.clock(), self.steps or len(self.losses)
        report = {
            "loss": sum(self.losses) / self.steps,
            "samples_per_second": self.samples / (now - self.since),
            "effective_batch": self.samples,
            "lr": lr,
        }
        self.losses, self.samples, self.since = [], 0, now
        return report
