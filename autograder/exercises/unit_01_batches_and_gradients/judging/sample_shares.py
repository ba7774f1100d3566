"""How much of each sample's gradient is in a vector, and which mistake that is.

A batch of n samples is a problem whose micro-batches are single samples. Whatever is made of their gradients g_1 ... g_n,
least squares says how much of each is in it: a mean holds 1/n of every one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import factorial

import torch
from torch import Tensor

from autograder.exercises.unit_01_batches_and_gradients.judging.other_vectors import (
    clipped_in_words,
    clipped_one_by_one_in_words,
    vector_in_words,
)
from autograder.exercises.unit_01_batches_and_gradients.observing import BatchTrial
from autograder.judging.other_losses import OWN_LOSSES, swapped
from gradaccum.fingerprint import LINEAR, as_fraction, batch_gradient
from gradaccum.problems import MicroBatch, flat_gradient, flat_parameters, joined, trainable

MATCH = 1e-4
"""How far a coefficient may be from the value that is due. Rounding leaves below 1e-9 in float64, sums in float32 about 1e-6;
the coefficients of different mistakes on batches of 5 to 7 samples differ by more than 1e-2."""

ROUNDING = 1e-9
"""How much of a sample that is not in a vector rounding may seem to leave in it, in float64."""

COARSE = 30
"""How many times as much is tolerated of a model in float32. Over 1,500 seeds its rounding leaves 3e-6 of a vector unexplained,
and moves coefficients by up to 3e-4; autocast leaves 2e-3 and more."""

OTHER_SIZES = (2, 4, 8)
"""How many outputs, features or parameters, and units there are in models without extras. No batch has as many samples."""


@dataclass(frozen=True)
class Mixture:
    """How much of each sample's gradient is in a vector.

    Attributes:
        samples: ``(n,)`` coefficients.
        stale: coefficient of what ``.grad`` held before, 0 if it held nothing.
        linear: whether these explain the vector.
        coarse: how many times as much is tolerated as of a model in float64.
    """

    samples: Tensor
    stale: float
    linear: bool
    coarse: int = 1

    @property
    def has_samples(self) -> bool:
        return bool((self.samples.abs() > MATCH).any())

    @property
    def has_stale(self) -> bool:
        return self.linear and abs(self.stale) > MATCH

    def holds(self, due: list[float] | Tensor) -> bool:
        """Whether the coefficients are those that are due, up to rounding."""
        wanted = torch.as_tensor(due, dtype=self.samples.dtype)
        off = (self.samples - wanted).abs()
        return self.linear and bool((off <= MATCH * self.coarse * wanted.abs().clamp_min(1)).all())

    @property
    def same_of_each(self) -> bool:
        return self.holds([float(self.samples[0])] * len(self.samples))

    def in_words(self) -> str:
        """``"1/4 of sample 1, 1 of sample 2"`` or ``"1/4 of each"``."""
        if self.same_of_each and self.has_samples:
            return f"{as_fraction(float(self.samples[0]))} of each"
        shares = [(k, as_fraction(value)) for k, value in enumerate(self.samples.tolist(), 1) if abs(value) > MATCH]
        words = [f"{share} of sample {k}" for k, share in shares]
        sizes = self.samples.abs()
        if bool(((sizes > ROUNDING) & (sizes <= MATCH)).any()) and self.coarse == 1:
            words.append(f"less than {as_fraction(MATCH)} of {'any other' if words else 'any'} sample")
        return ", ".join(words) or "nothing of any sample"


def unmix(trial: BatchTrial, vector: Tensor, *, training: bool | None = None, loss_fn: Callable | None = None) -> Mixture:
    """Which sample gradients a vector ``(P,)`` is made of, by least squares.

    How much of a gradient that is zero is in it cannot be known: as much as of the others on average, it is assumed.

    Args:
        trial: the batch whose samples are meant.
        vector: a gradient, or a movement divided by the learning rate.
        training: whether to compute the sample gradients in training mode; the trial's own mode if not given.
        loss_fn: the loss whose gradients are meant; the trial's own if not given.
    """
    model, batches = trial.exact()
    stale = flat_gradient(model)
    model.train(trial.training if training is None else training)
    basis = torch.stack([batch_gradient(model, loss_fn or trial.loss_fn, sample) for sample in batches])
    if trial.problem.stale:
        basis = torch.cat([basis, stale[None]])
    vector = vector.to(basis)
    if not torch.isfinite(vector).all():
        return Mixture(torch.zeros(trial.samples, dtype=basis.dtype), 0.0, False)
    coarse = 1 if trial.problem.dtype == "float64" else COARSE
    exists = basis.any(dim=1)
    coefficients = torch.zeros(len(basis), dtype=basis.dtype)
    coefficients[exists] = torch.linalg.lstsq(basis[exists].T, vector[:, None]).solution[:, 0]
    coefficients[~exists] = coefficients[exists].mean() if exists.any() else 0.0
    error, size = float((vector - coefficients @ basis).norm()), float(vector.norm())
    stale_share = float(coefficients[-1]) if trial.problem.stale else 0.0
    return Mixture(coefficients[: trial.samples], stale_share, error <= LINEAR * coarse * size, coarse)


def name_shares(trial: BatchTrial, vector: Tensor) -> tuple[str, tuple[str, ...]]:
    """What is wrong with a vector that should be the mean of the sample gradients, or their sum: a message, slugs of mistakes.

    The message is empty if nothing is wrong.
    """
    if not torch.isfinite(vector).all():
        return "It holds values that are no longer numbers (NaN or inf).", ()
    n, mixture = trial.samples, unmix(trial, vector)
    slugs: tuple[str, ...] = ()
    if not mixture.linear:
        mixture, slugs = unmix(trial, vector, training=not trial.training), (other_mode(trial),)
    if not mixture.linear:
        return _of_another_loss(trial, vector)
    if mixture.holds([trial.due] * n):
        return (f"{IN_OTHER_MODE} {other_mode_in_words(trial)}.", slugs) if slugs else ("", ())
    if mixture.holds([1 / n] * n):
        return OWN_GRADIENTS, slugs
    shares_by_slug = wrong_shares(n) if trial.due < 1 else {}  # of a single sample they are all alike
    named = [slug for slug, shares in shares_by_slug.items() if any(map(mixture.holds, shares))]
    if not named and trial.problem.outputs == 1 and _with_all_targets(trial, vector).holds([1 / n] * n):
        return WITH_ALL_TARGETS, (*slugs, "targets-not-cut")
    more = "" if named or slugs or not shares_by_slug else clipped_one_by_one_in_words(trial, mixture.samples)
    if not named and mixture.same_of_each:
        held = float(mixture.samples[0])
        more = clipped_in_words(held, trial.due, vector)
        if not more and mixture.has_samples and as_fraction(held) == f"{held:.3g}":  # no fraction that tells the factor
            more = f" That is {held / trial.due:.3g} times what is due."
    share = "all" if trial.due == 1 else as_fraction(trial.due)
    return f"Due is {share} of every sample's gradient; yours holds {mixture.in_words()}.{more}", (*slugs, *named[:1])


IN_OTHER_MODE = "It is the gradient of a model in"


def is_right_but_for_the_mode(message: str) -> bool:
    """Whether a message of :func:`name_shares` finds nothing wrong with the shares of the samples."""
    return not message or message.startswith(IN_OTHER_MODE)


def _of_another_loss(trial: BatchTrial, vector: Tensor) -> tuple[str, tuple[str, ...]]:
    """What is wrong with a vector that is no combination of the sample gradients of this loss."""
    if unmix(trial, vector, loss_fn=swapped(trial.loss_fn)).linear:
        return "It is made of gradients of loss_fn with its two arguments in the wrong order.", ("loss-arguments-swapped",)
    if any(unmix(trial, vector, loss_fn=own).linear for own in OWN_LOSSES):
        words = "It is made of gradients of another loss, such as the mean squared error, not of the loss_fn that is given."
        return words, ("loss-of-its-own",)
    if trial.samples > 1 and _with_all_targets(trial, vector).linear:
        return WITH_ALL_TARGETS, ("targets-not-cut",)
    words = vector_in_words(trial, vector) if trial.due <= 1 / trial.samples else ""
    return words or "It is not a combination of the gradients of your samples at the parameters you were given.", ()


OWN_GRADIENTS = (
    "It is the average of the gradients of the samples' own losses, which is the gradient of the batch's loss only if loss_fn "
    "averages."
)

WITH_ALL_TARGETS = "It is made of losses that compare one sample's prediction with all targets."


def _with_all_targets(trial: BatchTrial, vector: Tensor) -> Mixture:
    """Which gradients of losses that compare a sample's prediction with all targets a vector is made of.

    Of a model with a single output, the gradients of every loss are multiples of each other: there, only the shares tell.
    """
    targets = joined(trial.exact()[1])[1]
    return unmix(trial, vector, loss_fn=lambda prediction, _: trial.loss_fn(prediction, targets))


def other_mode(trial: BatchTrial) -> str:
    """The mistake of a function that computes in another mode than the model was given in."""
    return "eval-mode" if trial.training else "training-mode"


def other_mode_in_words(trial: BatchTrial) -> str:
    """The mode that the model was not given in."""
    return "evaluation mode" if trial.training else "training mode"


def wrong_shares(n: int) -> dict[str, list[list[float]]]:
    """By slug, how much of each of n samples is in the result of a function with this mistake."""
    only = [[float(k == j) for k in range(n)] for j in range(n)]
    without = [[float(k != j) for k in range(n)] for j in range(n)]
    without += [[float(k < m) for k in range(n)] for m in range(2, n)]
    without += [[float(k >= m) for k in range(n)] for m in range(1, n - 1)]
    halves = [0.5 ** (n - k) for k in range(n)]
    powers = [(1 / n) ** (n - k) for k in range(n)]
    factorials = [factorial(k) / factorial(n) for k in range(n)]  # the k-th sum is divided by k
    growing = [[sum(1 / j for j in range(k + 1, n + 1)) / n for k in range(n)], [(n - k) / n for k in range(n)]]
    return {
        "sums-samples": [[1.0] * n],
        "samples-divided-twice": [[1 / n**2] * n],
        "single-sample": only + [[share / n for share in row] for row in only],
        "sample-missing": [[share / d for share in row] for row in without for d in (1, sum(row), n)],
        "halved-again-and-again": [halves, [2 * halves[0], *halves[1:]]],
        "divided-again-and-again": [powers, [powers[1], *powers[1:]], factorials],
        "batches-grow": growing,
        "other-divisor": [[1 / d] * n for d in (*OTHER_SIZES, n - 1, n + 1) if d != n],
    }


def moves_between_samples(trial: BatchTrial, moved: Tensor) -> bool:
    """Whether a movement is the sum of updates after every sample, by its whole gradient or by its share of the batch's."""
    replayed = (_sample_by_sample(trial, share) for share in (1, 1 / trial.samples))
    return any(bool(torch.dist(moved, other) <= LINEAR * other.norm()) for other in replayed)


def _sample_by_sample(trial: BatchTrial, share: float) -> Tensor:
    """How far an update after every sample moves the parameters, divided by the learning rate: ``(P,)``."""
    return _replayed(trial, trial.exact()[1], share)


def is_repeated(trial: BatchTrial, moved: Tensor) -> bool:
    """Whether a movement is that of two or three updates by the batch, one after the other."""
    batch = joined(trial.exact()[1])
    replayed = (_replayed(trial, [batch] * times) for times in (2, 3))
    return any(bool(torch.dist(moved, other) <= LINEAR * other.norm()) for other in replayed)


def _replayed(trial: BatchTrial, batches: Sequence[MicroBatch], share: float = 1.0) -> Tensor:
    """How far an update after each of these batches moves the parameters, divided by the learning rate: ``(P,)``."""
    model, _ = trial.exact()
    parameters = trainable(model)
    total = torch.zeros_like(flat_parameters(model))
    for batch in batches:
        gradient = share * batch_gradient(model, trial.loss_fn, batch)
        total = total + gradient
        with torch.no_grad():
            for p, g in zip(parameters, gradient.split([p.numel() for p in parameters]), strict=True):
                p.sub_(trial.lr * g.view_as(p))
    return total
