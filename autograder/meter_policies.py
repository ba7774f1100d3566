"""What wrong meters of a run report, and how these mistakes are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autograder.exercise import Observation
from autograder.meter_trials import MeterTrial, due, reported, same, seconds_of
from autograder.mistakes import add_mistake

Formula = Callable[[MeterTrial], list[float]]

WRONG: dict[str, dict[str, Formula | tuple[Formula, ...]]] = {
    "loss": {
        "loss-scaled-in-log": (
            lambda t: [sum(x for _, x, _ in w) / len(w) ** 2 for w in t.windows],
            lambda t: [w[-1][1] / len(w) for w in t.windows],
            lambda t: [loss / len(w) for loss, w in zip(due(t)["loss"], t.windows, strict=True)],
        ),
        "loss-of-last": lambda t: [w[-1][1] for w in t.windows],
        "loss-mean-of-means": lambda t: [sum(x for _, x, _ in w) / len(w) for w in t.windows],
        "loss-never-divided": lambda t: [sum(n * x for n, x, _ in w) for w in t.windows],
        "loss-means-over-samples": lambda t: [sum(x for _, x, _ in w) / sum(n for n, *_ in w) for w in t.windows],
        "loss-summed": lambda t: [sum(x for _, x, _ in w) for w in t.windows],
        "loss-never-restarted": lambda t: _running([sum(n * x for n, x, _ in w) for w in t.windows], _samples(t)),
        "loss-sum-never-restarted": lambda t: _over(_sums([sum(n * x for n, x, _ in w) for w in t.windows]), _samples(t)),
    },
    "samples_per_second": {
        "throughput-of-one-micro-batch": lambda t: [w[-1][0] / s for w, s in zip(t.windows, seconds_of(t), strict=True)],
        "throughput-of-updates": lambda t: [1 / s for s in seconds_of(t)],
        "throughput-of-micro-batches": lambda t: [len(w) / s for w, s in zip(t.windows, seconds_of(t), strict=True)],
        "throughput-without-update": (
            lambda t: _over(_samples(t), [sum(s for *_, s in w) for w in t.windows]),
            lambda t: _over(
                _samples(t),
                [sum(s for *_, s in w) + before for w, before in zip(t.windows, (0, *t.seconds[:-1]), strict=True)],
            ),
        ),
        "throughput-without-first": lambda t: _over(
            _samples(t), [s - w[0][2] for w, s in zip(t.windows, seconds_of(t), strict=True)]
        ),
        "throughput-turned-round": (seconds_of, lambda t: _over(seconds_of(t), _samples(t))),
        "throughput-since-start": lambda t: _running(_samples(t), seconds_of(t)),
        "clock-never-restarted": lambda t: _over(_samples(t), _sums(seconds_of(t))),
        "throughput-of-nominal-size": (
            lambda t: [w[0][0] * len(w) / s for w, s in zip(t.windows, seconds_of(t), strict=True)],
            lambda t: [w[-1][0] * len(w) / s for w, s in zip(t.windows, seconds_of(t), strict=True)],
        ),
        "throughput-mean-of-rates": (
            lambda t: [sum(n / s for n, _, s in w) / len(w) for w in t.windows],
            lambda t: [
                sum(n / (s + before * (k == 0)) for k, (n, _, s) in enumerate(w)) / len(w)
                for w, before in zip(t.windows, (0, *t.seconds[:-1]), strict=True)
            ],
        ),
        "samples-never-restarted": lambda t: _over(_sums(_samples(t)), seconds_of(t)),
    },
    "effective_batch": {
        "effective-batch-of-one": lambda t: [float(w[-1][0]) for w in t.windows],
        "effective-batch-in-micro-batches": lambda t: [float(len(w)) for w in t.windows],
        "throughput-of-nominal-size": (
            lambda t: [float(w[0][0] * len(w)) for w in t.windows],
            lambda t: [float(w[-1][0] * len(w)) for w in t.windows],
        ),
        "samples-never-restarted": lambda t: _sums(_samples(t)),
    },
}
"""By key and slug, what a meter with this mistake reports instead."""


def _samples(trial: MeterTrial) -> list[float]:
    """Of each window."""
    return [float(sum(n for n, *_ in window)) for window in trial.windows]


def _sums(values: Sequence[float]) -> list[float]:
    return [sum(values[: k + 1]) for k in range(len(values))]


def _running(amounts: Sequence[float], of: Sequence[float]) -> list[float]:
    return _over(_sums(amounts), _sums(of))


def _over(amounts: Sequence[float], of: Sequence[float]) -> list[float]:
    return [a / b for a, b in zip(amounts, of, strict=True)]


def wrong_slug(trials: Sequence[MeterTrial], observations: Sequence[Observation], key: str) -> str | None:
    """The mistake that explains a key on every trial."""
    for slug, formulas in WRONG.get(key, {}).items():
        for formula in formulas if isinstance(formulas, tuple) else (formulas,):
            if all(same(reported(seen, key), formula(trial)) for trial, seen in zip(trials, observations, strict=True)):
                return slug
    return None


add_mistake(
    "graph-kept",
    "You keep losses as they come, and with each the graph of its micro-batch: memory grows for as long as you do.",
    "What of a loss do you need for a report, and what else hangs on it?",
)
add_mistake(
    "loss-never-restarted",
    "Your loss is a mean over all windows so far: it follows late and hides what happens now.",
    "What should your sums hold when a new window begins?",
)
add_mistake(
    "loss-sum-never-restarted",
    "Your sum of losses goes on from window to window and is never set back, so the loss seems to rise.",
    "What should your sums hold when a new window begins?",
)
add_mistake(
    "throughput-of-one-micro-batch",
    "You divide the samples of one micro-batch by the time of a whole window: N times too few samples per second.",
    "How many samples went through the model between two updates?",
)
add_mistake(
    "throughput-of-updates",
    "You report updates per second, which change when N does, though nothing has become faster.",
    "Which number can you compare between two runs with another N?",
)
add_mistake(
    "throughput-of-micro-batches",
    "You report micro-batches per second, which change when B does, though nothing has become faster.",
    "Which number can you compare between two runs with another B?",
)
add_mistake(
    "throughput-without-update",
    "Your clock stops at the last micro-batch, so the time of the window's own update is missing.",
    "From which moment to which does a window last? The time of an update belongs to it.",
)
add_mistake(
    "throughput-without-first",
    "Your clock starts in the first call of micro_batch, when the first forward and backward pass are already over.",
    "When does a window begin? Which call comes last before that?",
)
add_mistake(
    "throughput-turned-round",
    "You report how long it takes, not how many samples there are in a second.",
    "Which of two numbers is divided by the other?",
)
add_mistake(
    "throughput-since-start",
    "Your throughput is an average since the start: it hardly moves when the run slows down.",
    "Over which samples and which seconds should this window's number be?",
)
add_mistake(
    "clock-never-restarted",
    "You divide the samples of one window by the time since the start, so throughput seems to fall with every window.",
    "When does the clock of the second window start?",
)
add_mistake(
    "samples-never-restarted",
    "Your count of samples goes on from window to window and is never set back.",
    "What should your sums hold when a new window begins?",
)
add_mistake(
    "throughput-of-nominal-size",
    "You count every micro-batch of a window as if it had the size of one of them: ragged ones hold fewer samples.",
    "You are told the samples of every micro-batch. Who adds them up?",
)
add_mistake(
    "effective-batch-of-one",
    "You report the size of a micro-batch as the effective batch size.",
    "Over how many samples does an update average?",
)
add_mistake(
    "effective-batch-in-micro-batches",
    "You report how many micro-batches an update has seen, not how many samples.",
    "Over how many samples does an update average?",
)
add_mistake(
    "loss-never-divided",
    "The loss you report is a sum over the samples of the window that is never divided: it grows with the window.",
    "What makes a mean of a sum over samples?",
)
add_mistake(
    "loss-means-over-samples",
    "You add up the mean losses of micro-batches and divide by the number of samples: each was divided by its samples before.",
    "How do you get from a mean loss to the sum over its samples?",
)
add_mistake(
    "throughput-mean-of-rates",
    "You average the speeds of the micro-batches: one that was over soon then counts as much as one that took long.",
    "60 km at 60 km/h and 60 km at 20 km/h: how fast is that on average?",
)
