"""What wrong meters of a run report, and which of them explains what was reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from autograder.contract.observation import Observation
from autograder.exercises.unit_11_running_it.judging.meter import due, reported, same, seconds_of
from autograder.exercises.unit_11_running_it.observing.meter import OTHERS_AHEAD, OTHERS_LOSS, OTHERS_SAMPLES, MeterTrial
from gradaccum.diagnosis.search import each_alone, first_match

Formula = Callable[[MeterTrial], list[float]]
"""What a meter reports for each window."""

WRONG: dict[str, dict[str, tuple[Formula, ...]]] = {
    "loss": {
        "loss-scaled-in-log": (
            lambda t: [sum(x for _, x, _ in w) / len(w) ** 2 for w in t.windows],
            lambda t: [w[-1][1] / len(w) for w in t.windows],
            lambda t: [loss / len(w) for loss, w in zip(due(t)["loss"], t.windows, strict=True)],
        ),
        "loss-of-last": (lambda t: [w[-1][1] for w in t.windows],),
        "loss-mean-of-means": (
            lambda t: [sum(x for _, x, _ in w) / len(w) for w in t.windows],
            lambda t: [sum(x for _, x, _ in w) / len(t.windows[0]) for w in t.windows],
        ),
        "loss-never-divided": (lambda t: [sum(n * x for n, x, _ in w) for w in t.windows],),
        "loss-means-over-samples": (lambda t: [sum(x for _, x, _ in w) / sum(n for n, *_ in w) for w in t.windows],),
        "loss-summed": (lambda t: [sum(x for _, x, _ in w) for w in t.windows],),
        "loss-never-restarted": (lambda t: _running([sum(n * x for n, x, _ in w) for w in t.windows], _samples(t)),),
        "meters-share-state": (
            lambda t: _over(
                [sum(n * x for n, x, _ in w) + len(w) * OTHERS_LOSS * OTHERS_SAMPLES for w in t.windows], _samples_of_both(t)
            ),
        ),
        "loss-sum-never-restarted": (lambda t: _over(_sums([sum(n * x for n, x, _ in w) for w in t.windows]), _samples(t)),),
    },
    "samples_per_second": {
        "throughput-of-one-micro-batch": (lambda t: [w[-1][0] / s for w, s in zip(t.windows, seconds_of(t), strict=True)],),
        "throughput-of-updates": (lambda t: [1 / s for s in seconds_of(t)],),
        "throughput-of-micro-batches": (lambda t: [len(w) / s for w, s in zip(t.windows, seconds_of(t), strict=True)],),
        "throughput-without-update": (
            lambda t: _over(_samples(t), [sum(s for *_, s in w) for w in t.windows]),
            lambda t: _over(
                _samples(t),
                [sum(s for *_, s in w) + before for w, before in zip(t.windows, (0, *t.seconds[:-1]), strict=True)],
            ),
        ),
        "throughput-without-first": (
            lambda t: _over(_samples(t), [s - w[0][2] for w, s in zip(t.windows, seconds_of(t), strict=True)]),
        ),
        "throughput-turned-round": (seconds_of, lambda t: _over(seconds_of(t), _samples(t))),
        "throughput-since-start": (lambda t: _running(_samples(t), seconds_of(t)),),
        "clock-never-restarted": (lambda t: _over(_samples(t), _sums(seconds_of(t))),),
        "nominal-sizes": (
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
        "samples-never-restarted": (lambda t: _over(_sums(_samples(t)), seconds_of(t)),),
        "meters-share-state": (lambda t: _over(_samples_of_both(t), seconds_of(t)),),
    },
    "effective_batch": {
        "effective-batch-of-one": (lambda t: [float(w[-1][0]) for w in t.windows],),
        "effective-batch-in-micro-batches": (lambda t: [float(len(w)) for w in t.windows],),
        "nominal-sizes": (
            lambda t: [float(w[0][0] * len(w)) for w in t.windows],
            lambda t: [float(w[-1][0] * len(w)) for w in t.windows],
        ),
        "samples-never-restarted": (lambda t: _sums(_samples(t)),),
        "meters-share-state": (lambda t: _samples_of_both(t),),
    },
}
"""By key and mistake, what meters that make it report instead."""


def _smoothed(trial: MeterTrial, kept: float, before: tuple[float, ...]) -> list[float]:
    """For each window the mean so far, which may begin with numbers ``before``; the last mean keeps a share in it."""
    found = [*before]
    for loss in due(trial)["loss"]:
        found.append(kept * found[-1] + (1 - kept) * loss if found else loss)
    return found[len(before) :]


METERS_IN_WORDS: dict[str, tuple[tuple[str, Formula], ...]] = {
    "You divide each mean loss by the samples of its micro-batch. A mean times its samples is a sum.": (
        ("loss", lambda t: [sum(x / n for n, x, _ in w) for w in t.windows]),
        ("loss", lambda t: [sum(x / n for n, x, _ in w) * sum(n for n, *_ in w) for w in t.windows]),
        ("loss", lambda t: [sum(x / n for n, x, _ in w) / sum(n for n, *_ in w) for w in t.windows]),
    ),
    "The loss you report is smoothed: a part of it comes from the windows before.": tuple(
        ("loss", partial(_smoothed, kept=kept, before=before))
        for kept in (0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.5, 0.1)
        for before in ((), (0.0,))
    ),
    "The first window of your meter begins when its clock shows 0, and not when the meter is made.": (
        ("samples_per_second", lambda t: _over(_samples(t), [s + t.start * (k == 0) for k, s in enumerate(seconds_of(t))])),
    ),
    "Your meter reports a speed of 0 for the first window, as if nobody knew when that began.": (
        ("samples_per_second", lambda t: [0.0, *due(t)["samples_per_second"][1:]]),
    ),
    "The first window of your meter begins in the first call of micro_batch, when that micro-batch is over.": (
        ("samples_per_second", lambda t: _over(_samples(t), _seconds_without_the_first(t, lambda window: window == 0))),
    ),
    "Every window of your meter but the first begins in its first call of micro_batch, when that micro-batch is over.": (
        ("samples_per_second", lambda t: _over(_samples(t), _seconds_without_the_first(t, lambda window: window > 0))),
    ),
    "The time at which your meter's window begins is moved when another meter is made: the two share it.": (
        (
            "samples_per_second",
            lambda t: _over(_samples(t), [s - OTHERS_AHEAD * (k == 0) for k, s in enumerate(seconds_of(t))]),
        ),
    ),
    "The time of an update counts in its own window and again in the next one.": (
        (
            "samples_per_second",
            lambda t: _over(_samples(t), [s + u for s, u in zip(seconds_of(t), (0, *t.seconds), strict=False)]),
        ),
    ),
}
"""Rarer wrong meters, by what they do: what they report under a key instead of what is due."""


def _samples(trial: MeterTrial) -> list[float]:
    """The samples of each window."""
    return [float(sum(n for n, *_ in window)) for window in trial.windows]


def _samples_of_both(trial: MeterTrial) -> list[float]:
    """The samples of each window, with those that another meter was told of meanwhile."""
    return [samples + len(window) * OTHERS_SAMPLES for samples, window in zip(_samples(trial), trial.windows, strict=True)]


def _seconds_without_the_first(trial: MeterTrial, short: Callable[[int], bool]) -> list[float]:
    """The duration of each window; in those that are short, counted from 0, the time of the first micro-batch is missing."""
    durations = zip(trial.windows, seconds_of(trial), strict=True)
    return [seconds - window[0][2] * short(k) for k, (window, seconds) in enumerate(durations)]


def _sums(values: Sequence[float]) -> list[float]:
    return [sum(values[: k + 1]) for k in range(len(values))]


def _running(amounts: Sequence[float], of: Sequence[float]) -> list[float]:
    return _over(_sums(amounts), _sums(of))


def _over(amounts: Sequence[float], of: Sequence[float]) -> list[float]:
    return [a / b for a, b in zip(amounts, of, strict=True)]


def wrong_slug(trials: Sequence[MeterTrial], observations: Sequence[Observation], key: str) -> str | None:
    """The mistake that explains what was reported under a key on every trial; None if no known one does."""
    found = {trial: reported(seen, key) for trial, seen in zip(trials, observations, strict=True)}
    match = first_match(each_alone(WRONG.get(key, {})), found, lambda formula, trial: formula(trial), same)
    return match.mistakes[0] if match else None


def meter_in_words(trials: Sequence[MeterTrial], observations: Sequence[Observation], key: str) -> str:
    """The rarer meter that explains what was reported under a key on every trial; empty if none does."""
    found = [(trial, reported(seen, key)) for trial, seen in zip(trials, observations, strict=True)]
    for words, several in METERS_IN_WORDS.items():
        if any(of == key and all(same(numbers, formula(trial)) for trial, numbers in found) for of, formula in several):
            return words
    return ""
