"""Divides what one forward and backward saw by the time of the whole step."""

STYLE = "a chat model's trainer (nanochat)"
REPORT = "throughput is too low by the number of accumulation steps"
SOURCE = "https://github.com/karpathy/nanochat/issues/177"
PREDICTED = ("throughput-of-one-micro-batch",)
EXERCISE = "RunMeter"
MISTAKES = ("throughput-of-one-micro-batch",)
LOST = ("throughput",)


class RunMeter:
    def __init__(self, clock):
        self.clock, self.seen = clock, []
        self.t0 = clock()

    def micro_batch(self, loss, samples):
        self.seen.append((loss.detach().item(), samples))

    def update(self, lr):
        t1 = self.clock()
        dt, self.t0 = t1 - self.t0, t1
        total_batch_size = sum(samples for _, samples in self.seen)
        samples_per_fwdbwd = self.seen[-1][1]
        report = {
            "loss": sum(loss * samples for loss, samples in self.seen) / total_batch_size,
            "samples_per_second": samples_per_fwdbwd / dt,
            "effective_batch": total_batch_size,
            "lr": lr,
        }
        self.seen = []
        return report
