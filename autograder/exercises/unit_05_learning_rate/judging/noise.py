"""The simple noise scale of unit 05: what its exercise is tried on, and what comes out of wrong formulas for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from autograder.contract.observation import Observation
from autograder.exercises.unit_05_learning_rate.observing import NoiseTrial
from gradaccum.noise import square_lengths


@dataclass(frozen=True)
class Lengths:
    """What a formula for the noise scale starts from: S and L of a window, B and N."""

    small: float
    large: float
    size: int
    count: int

    def noise(self) -> float:
        return (self.small - self.large) / (1 - 1 / self.count) * self.size

    def signal(self) -> float:
        return (self.count * self.large - self.small) / (self.count - 1)

    def scale(self, **changed: float) -> float:
        """The noise scale, if some of the four had another value."""
        other = replace(self, **changed)
        return other.noise() / other.signal()

    def biased_noise(self) -> float:
        """If the noise were the only thing in which the two lengths differ."""
        return (self.small - self.large) * self.size


WRONG_FORMULAS: tuple[tuple[tuple[str, ...], Callable[[Lengths], float]], ...] = (
    (("forgets-micro-batch-size",), lambda w: w.scale(size=1)),
    (("biased-signal",), lambda w: w.noise() / w.large),
    (("biased-signal",), lambda w: w.biased_noise() / w.large),
    (("noise-inverted",), lambda w: 1 / w.scale()),
    (("biased-noise",), lambda w: w.biased_noise() / w.signal()),
    (("biased-noise",), lambda w: w.biased_noise() / (w.large - w.biased_noise() / (w.size * w.count))),
    (("lengths-added-up",), lambda w: w.scale(small=w.small * w.count)),
    (("lengths-added-up",), lambda w: w.scale(large=w.large * w.count**2)),
    (("lengths-added-up",), lambda w: w.scale(small=w.small * w.count, large=w.large * w.count**2)),
    (("forgets-micro-batch-size", "biased-noise"), lambda w: w.biased_noise() / w.size / w.signal()),
    (("forgets-micro-batch-size", "biased-signal"), lambda w: w.noise() / w.size / w.large),
    (("forgets-micro-batch-size", "biased-signal"), lambda w: w.biased_noise() / w.size / w.large),
)
"""Mistakes, and what comes out of them. A noise that is S - L and a signal that is L are one mistake: L taken for the truth."""


def wrong_noise_scales(trial: NoiseTrial) -> list[tuple[tuple[str, ...], float]]:
    """What comes of each wrong formula, and of lengths that are not squared, fewest mistakes first."""
    gradients = trial.gradients()
    window = Lengths(*square_lengths(gradients), trial.size, trial.count)
    rows = torch.stack(gradients).double().cpu()
    lengths = {"small": float(rows.norm(dim=1).mean()), "large": float(rows.mean(0).norm())}
    return [(("lengths-not-squared",), window.scale(**lengths)), *((slugs, wrong(window)) for slugs, wrong in WRONG_FORMULAS)]


def value_message(seen: Observation, due: float) -> str:
    """What is wrong with the number returned; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if "value" not in seen.facts:
        return seen.facts.get("raised") or f"Your function returned {seen.facts['type']} where a number was due."
    # 1e-6: differences of nearly equal squares lose digits, formulas that are wrong differ by more than 1 %.
    value = seen.facts["value"]
    fine = isinstance(value, int | float) and math.isclose(value, due, rel_tol=1e-6)
    return "" if fine else "The number is not the simple noise scale of these gradients."
