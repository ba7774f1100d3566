"""What is wrong with a simple noise scale, and what comes of wrong formulas for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_05_learning_rate.observing import NoiseTrial
from autograder.judging.calls import in_words
from autograder.judging.number_relations import relation
from autograder.judging.returned_kinds import returned_instead
from autograder.judging.tolerances import rounding
from autograder.support.counted import counted
from autograder.support.side_by_side import side_by_side
from gradaccum.noise import simple_noise_scale, square_lengths


@dataclass(frozen=True)
class Lengths:
    """What a formula for the noise scale starts from.

    Attributes:
        small: S, the mean squared length of the micro-batch gradients.
        large: L, the squared length of their mean.
        size: B, samples in a micro-batch.
        count: N, micro-batches.
    """

    small: float
    large: float
    size: int
    count: int

    def noise(self) -> float:
        return (self.small - self.large) / (1 - 1 / self.count) * self.size

    def signal(self) -> float:
        return (self.count * self.large - self.small) / (self.count - 1)

    def scale(self) -> float:
        return self.noise() / self.signal()

    def biased_noise(self) -> float:
        """The noise if the two lengths differed in nothing else."""
        return (self.small - self.large) * self.size


WRONG_FORMULAS: tuple[tuple[tuple[str, ...], Callable[[Lengths], float]], ...] = (
    (("forgets-micro-batch-size",), lambda w: replace(w, size=1).scale()),
    (("noise-not-divided",), lambda w: w.noise()),
    (("biased-signal",), lambda w: w.noise() / w.large),
    (("biased-signal",), lambda w: w.biased_noise() / w.large),
    (("noise-inverted",), lambda w: 1 / w.scale()),
    (("biased-noise",), lambda w: w.biased_noise() / w.signal()),
    (("biased-noise",), lambda w: w.biased_noise() / (w.large - w.biased_noise() / (w.size * w.count))),
    (("lengths-added-up",), lambda w: replace(w, small=w.small * w.count).scale()),
    (("lengths-added-up",), lambda w: replace(w, large=w.large * w.count**2).scale()),
    (("lengths-added-up",), lambda w: replace(w, small=w.small * w.count, large=w.large * w.count**2).scale()),
    (("forgets-micro-batch-size", "biased-noise"), lambda w: w.biased_noise() / w.size / w.signal()),
    (("forgets-micro-batch-size", "biased-signal"), lambda w: w.noise() / w.size / w.large),
    (("forgets-micro-batch-size", "biased-signal"), lambda w: w.biased_noise() / w.size / w.large),
)
"""Mistakes, and what comes of them. A noise that is S - L and a signal that is L are one mistake: L taken for the truth."""


def due_of(trial: NoiseTrial) -> float:
    """The simple noise scale of a trial's gradients."""
    return simple_noise_scale(trial.gradients(), trial.size)


def wrong_formula(trials: Mapping[str, NoiseTrial], observations: Mapping[str, Observation]) -> tuple[str, ...]:
    """The mistakes of the first wrong formula that explains all values, or of a function wrong only if |G|² is negative."""
    for of_trials in zip(*map(wrong_noise_scales, trials.values()), strict=True):
        values = zip(trials, of_trials, strict=True)
        if not any(value_message(observations[name], value) for name, (_, value) in values):
            return of_trials[0][0]
    wrong = [name for name, trial in trials.items() if value_message(observations[name], due_of(trial))]
    return ("negative-hidden",) if wrong == ["negative"] else ()


def wrong_noise_scales(trial: NoiseTrial) -> list[tuple[tuple[str, ...], float]]:
    """The value of each wrong formula, and of lengths that are not squared, with its mistakes; fewest mistakes first."""
    gradients = trial.gradients()
    window = Lengths(*square_lengths(gradients), trial.size, trial.count)
    rows = torch.stack(gradients).double().cpu()
    not_squared = replace(window, small=float(rows.norm(dim=1).mean()), large=float(rows.mean(0).norm()))
    return [
        (("lengths-not-squared",), not_squared.scale()),
        *((slugs, wrong(window)) for slugs, wrong in WRONG_FORMULAS),
    ]


SCALES_IN_WORDS: dict[str, Callable[..., float]] = {
    "You divide by |G|, where |G|² is due.": lambda rows, size: _over_length(_lengths(rows, size)),
    "You put m = 1 for the gradients of micro-batches, although each of them averages over B samples.": (
        lambda rows, size: replace(_lengths(rows, size), size=1, count=size * len(rows)).scale()
    ),
    "You divide by S, where the estimate of |G|² is due.": lambda rows, size: (w := _lengths(rows, size)).noise() / w.small,
    "Your L is the square of the mean length, where the squared length of the mean gradient is due.": (
        lambda rows, size: replace(_lengths(rows, size), large=float(rows.norm(dim=1).mean()) ** 2).scale()
    ),
    "Your S is the square of the mean length, where the mean of the squared lengths is due.": (
        lambda rows, size: replace(_lengths(rows, size), small=float(rows.norm(dim=1).mean()) ** 2).scale()
    ),
    "In your estimate of |G|², S and L have changed places, or B and BN.": (
        lambda rows, size: (w := _lengths(rows, size)).noise() * (len(rows) - 1) / (len(rows) * w.small - w.large)
    ),
    "You multiply the noise by B in the first equation and by BN in the second, where the equations divide it by these.": (
        lambda rows, size: ((w := _lengths(rows, size)).large - w.small) / size / (len(rows) * w.small - w.large)
    ),
    "In your equations the large batch has N samples, where it has B times N.": (
        lambda rows, size: _of_sizes(_lengths(rows, size), size, len(rows))
    ),
    "You correct the noise by the samples of the window, where the number of its micro-batches is due.": (
        lambda rows, size: _with_noise(w := _lengths(rows, size), w.biased_noise() / (1 - 1 / (size * len(rows))))
    ),
    "Your noise is a mean over components, even where you subtract it from L.": (
        lambda rows, size: _with_noise(w := _lengths(rows, size), w.noise() / rows.shape[1])
    ),
    "Your number is that of a noise averaged over components, where their sum is due.": (
        lambda rows, size: _lengths(rows, size).scale() / rows.shape[1]
    ),
    "Your S is a mean over components, where their sum is due.": (
        lambda rows, size: replace(w := _lengths(rows, size), small=w.small / rows.shape[1]).scale()
    ),
    "Your L is a mean over components, where their sum is due.": (
        lambda rows, size: replace(w := _lengths(rows, size), large=w.large / rows.shape[1]).scale()
    ),
    "Your number is B times what the equations say.": lambda rows, size: _lengths(rows, size).scale() * size,
    "You take the root of the noise scale.": (
        lambda rows, size: math.copysign(math.sqrt(abs(scale := _lengths(rows, size).scale())), scale)
    ),
    "You add the noise to L, where it has to be subtracted.": (
        lambda rows, size: (w := _lengths(rows, size)).noise() / (w.large + w.noise() / (size * len(rows)))
    ),
    "You subtract the noise of the window's mean from S, which holds N times as much of it.": (
        lambda rows, size: (w := _lengths(rows, size)).noise() / (w.small - w.noise() / (size * len(rows)))
    ),
    "Your noise is L - S, where S - L is due.": (
        lambda rows, size: -(w := _lengths(rows, size)).noise() / (w.large + w.noise() / (size * len(rows)))
    ),
    "Your S is the squared length of the first gradient, where the mean of all squared lengths is due.": (
        lambda rows, size: replace(_lengths(rows, size), small=float(rows[0].square().sum())).scale()
    ),
    "Your N is the number of components of a gradient, where the number of micro-batches is due.": (
        lambda rows, size: replace(_lengths(rows, size), count=rows.shape[1]).scale()
    ),
    "Your L averages over the components of each gradient, where it has to average over the micro-batches.": (
        lambda rows, size: replace(_lengths(rows, size), large=float(rows.mean(1).square().sum())).scale()
    ),
    "You add up standard deviations of components, where the sum of their variances is due.": (
        lambda rows, size: _with_noise(_lengths(rows, size), size * float(rows.std(0).sum()))
    ),
    "You square the sum of the standard deviations of components, where the sum of their variances is due.": (
        lambda rows, size: _with_noise(_lengths(rows, size), size * float(rows.std(0).sum()) ** 2)
    ),
    "You divide component by component and average the quotients, where both sums are due before the division.": (
        lambda rows, size: float((noise := size * rows.var(0)).div(rows.mean(0).square() - noise / (size * len(rows))).mean())
    ),
    "Your number is 1/N of what the equations say. Which sizes stand there for B, and which for B times N?": (
        lambda rows, size: _lengths(rows, size).scale() / len(rows)
    ),
    **{
        f"Your N is {count} in every window, where the number of its micro-batches is due.": (
            lambda rows, size, count=count: replace(_lengths(rows, size), count=count).scale()
        )
        for count in (2, 3, 4, 8, 16)
    },
    "You use the first two gradients only.": lambda rows, size: _lengths(rows[:2], size).scale(),
    "You leave the first gradient out where there are more than two.": (
        lambda rows, size: _lengths(rows[1:] if len(rows) > 2 else rows, size).scale()
    ),
    "Your number is what the equations say divided by the samples of the window: it counts windows, where samples are due.": (
        lambda rows, size: _lengths(rows, size).scale() / (size * len(rows))
    ),
    "You divide each gradient by its own length first, which takes away what is to be measured.": (
        lambda rows, size: _lengths(rows / rows.norm(dim=1, keepdim=True), size).scale()
    ),
    "Your number is N times what the equations say, as if a micro-batch held all samples of the window.": (
        lambda rows, size: _lengths(rows, size).scale() * len(rows)
    ),
    "Your estimate of |G|² subtracts the noise of a micro-batch from L, which holds only 1/N of it.": (
        lambda rows, size: (w := _lengths(rows, size)).noise() / (w.large - w.noise() / size)
    ),
}
"""Rarer numbers, by how they follow from the gradients ``(N, P)`` and from B."""


def _lengths(rows: Tensor, size: int) -> Lengths:
    return Lengths(*square_lengths(list(rows)), size, len(rows))


def _both_sums(sums: tuple[float, float], window: Lengths) -> tuple[float, float]:
    """Noise and signal of all windows up to this one."""
    return sums[0] + window.noise(), sums[1] + window.signal()


def _over_length(lengths: Lengths) -> float:
    signal = lengths.signal()
    return lengths.noise() / math.sqrt(signal) if signal > 0 else math.nan


def _of_sizes(lengths: Lengths, small: int, large: int) -> float:
    """The noise scale if batches of these two different sizes had these lengths."""
    return small * large * (lengths.small - lengths.large) / (large * lengths.large - small * lengths.small)


def _with_noise(lengths: Lengths, noise: float) -> float:
    """The noise scale if this is the noise, also in the squared length of the gradient."""
    return noise / (lengths.large - noise / (lengths.size * lengths.count))


def noise_in_words(trials: Mapping[str, NoiseTrial], observations: Mapping[str, Observation]) -> str:
    """How all numbers that were returned follow from the gradients, as a sentence; empty if in no known way."""
    if any("value" not in observations[name].facts for name in trials):
        return ""
    given = {name: (torch.stack(trial.gradients()).double().cpu(), trial.size) for name, trial in trials.items()}
    for words, number in SCALES_IN_WORDS.items():
        if all(_is(observations[name], number(*window)) for name, window in given.items()):
            return words
    so_far = list(accumulate((_lengths(*window) for window in given.values()), _both_sums, initial=(0.0, 0.0)))[1:]
    if not any(value_message(observations[name], noise / signal) for name, (noise, signal) in zip(given, so_far, strict=True)):
        return "Your number is made of all windows that your function has been given so far, where that of the last one is due."
    return relation([observations[name].facts["value"] for name in trials], list(map(due_of, trials.values())))


def _is(seen: Observation, number: float) -> bool:
    """Whether this number was returned, or none where a formula gives none."""
    if math.isnan(number):
        return isinstance(value := seen.facts["value"], float) and math.isnan(value)
    return not value_message(seen, number)


def window_message(trial: NoiseTrial, seen: Observation) -> str:
    """What is wrong with the number returned for a trial's window; empty if nothing is."""
    window = f"N = {trial.count} micro-batches of {counted(trial.size, 'sample')}"
    return value_message(seen, due_of(trial), f"for {window} ")


def value_message(seen: Observation, due: float, window: str = "") -> str:
    """What is wrong with the number returned; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if "value" not in seen.facts:
        return seen.facts.get("raised") or returned_instead(seen.facts["type"], "a number")
    value = seen.facts["value"]
    if isinstance(value, str | list | dict):
        return returned_instead(in_words(value), "a number")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    # Differences of nearly equal squares lose digits, which 1e-6 admits; wrong formulas differ by more than 1 %.
    fine = number and math.isclose(value, due, rel_tol=1e-6, abs_tol=rounding(due, 6))
    if fine:
        return ""
    words = "The number is not the simple noise scale of these gradients"
    if not number:
        return f"{words}."
    yours, right = side_by_side(value, due)
    return f"{words}: {window}it is {yours}, where {right} is due."
