"""A generator in a function's clothes keeps the sums."""

from types import SimpleNamespace

EXERCISE = "RunMeter"


def windows(clock):
    report, began = None, clock()
    while True:
        total, samples = 0.0, 0
        while (said := (yield report))[0] == "micro_batch":
            report = None
            total, samples = total + float(said[1]) * said[2], samples + said[2]
        now = clock()
        report = {
            "loss": total / samples,
            "samples_per_second": samples / (now - began),
            "effective_batch": samples,
            "lr": said[1],
        }
        began = now


def RunMeter(clock):  # noqa: N802
    running = windows(clock)
    next(running)
    return SimpleNamespace(
        micro_batch=lambda loss, samples: running.send(("micro_batch", loss.item(), samples)),
        update=lambda lr: running.send(("update", lr)),
    )
