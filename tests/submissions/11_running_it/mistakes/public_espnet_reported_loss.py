"""Reports the mean of losses that have been divided by N for the backward."""

STYLE = "a speech trainer (ESPnet)"
REPORT = "the loss is divided by the number of accumulation steps before it is reported"
SOURCE = "https://github.com/espnet/espnet/issues/5090"
PREDICTED = ("loss-scaled-in-log",)
EXERCISE = "RunMeter"
MISTAKES = ("loss-scaled-in-log",)
LOST = ("loss",)


class RunMeter:
    def __init__(self, clock):
        self.clock = clock
        self.start()

    def start(self):
        self.stats, self.weights, self.began = [], [], self.clock()

    def micro_batch(self, loss, samples):
        self.stats.append(float(loss))
        self.weights.append(samples)

    def update(self, lr):
        accum_grad, weight = len(self.stats), sum(self.weights)
        scaled = [loss / accum_grad for loss in self.stats]
        report = {
            "loss": sum(loss * samples for loss, samples in zip(scaled, self.weights, strict=True)) / weight,
            "samples_per_second": weight / (self.clock() - self.began),
            "effective_batch": weight,
            "lr": lr,
        }
        self.start()
        return report
