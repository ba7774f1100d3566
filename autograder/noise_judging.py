"""The simple noise scale of unit 05: what its exercise is tried on, and what comes out of wrong formulas for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from autograder.exercise import Observation
from autograder.mistakes import add_mistake
from gradaccum.noise import square_lengths


@dataclass(frozen=True)
class NoiseTrial:
    """Micro-batch gradients of a window: a common part and independent noise.

    Attributes:
        seed: of both.
        count: N, micro-batches.
        size: B, samples in each.
        noise: standard deviation of one sample's component; the common part has components around 1.
        device: where.
    """

    seed: int
    count: int
    size: int
    noise: float
    device: str

    def gradients(self) -> list[Tensor]:
        generator = torch.Generator().manual_seed(self.seed)
        common = torch.randn(30, generator=generator, dtype=torch.float64)
        noise = torch.randn(self.count, 30, generator=generator, dtype=torch.float64)
        return list((common + self.noise / self.size**0.5 * noise).to(self.device))


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


add_mistake(
    "forgets-micro-batch-size",
    "You treat each micro-batch gradient as if it came from one sample; it is a mean over B of them and less noisy.",
    "By how much does averaging B samples shrink the variance?",
)
add_mistake(
    "biased-signal",
    "You take the squared length of the mean gradient for that of the true one, but it still holds noise and is too large.",
    "What would that length be if the true gradient were zero?",
)
add_mistake(
    "noise-inverted",
    "Your number is the reciprocal: signal over noise.",
    "Should a noisier gradient give a larger or a smaller noise scale?",
)
add_mistake(
    "biased-noise",
    "Your estimate of the noise is too small: you take all that L holds for the gradient's, but part of it is noise.",
    "Subtract the two equations term by term. What becomes of the noise in the second?",
)
add_mistake(
    "lengths-added-up",
    "S or L is a sum in your formula where the equations have a mean.",
    "Both S and L have a 1/N. What does it divide in each, and is it inside the square or outside?",
)
add_mistake(
    "lengths-not-squared",
    "You put lengths into the equations, which are about squared lengths.",
    "By which factor does the noise scale change if all gradients are twice as long? By which does yours?",
)
