"""Unit 00, the start page. Its practice exercise shows what a verdict looks like."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.verdict import Part, Verdict
from autograder.exercises.unit_00_start_here.observing import ListTrial
from autograder.judging.failures import first_failure
from autograder.judging.returned_kinds import returned_instead
from autograder.judging.tolerances import close
from autograder.support.counted import counted
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.fingerprint import as_fraction

UNIT = "00_start_here"

SAME = 1e-4
"""Relative difference up to which a tensor is a combination of gradients, and largest one between two shares of them."""

CLOSE_BY = 0.1
"""Relative difference up to which a wrong tensor is called close to the mean."""

KEPT = "An earlier call, for {}, was right. Is something of it still there?"
"""What is said of a tensor that has nothing to do with the gradients, after a right one."""


class AverageGradients(Exercise[ListTrial]):
    """``average_gradients(gradients) -> Tensor``: the mean of a list of gradients."""

    id = "average_gradients"
    section = "Explore: a loop in one picture"
    unit = UNIT
    parts = (Part("mean", "the mean", 1),)
    graded = False

    def trials(self, seed: int, device: str) -> dict[str, ListTrial]:
        trials = {counted(count, "gradient"): ListTrial(seed + count, count, device) for count in (4, 3, 1, 2, 5)}
        zero = {"4 gradients, one of them zero": ListTrial(seed + 7, 4, device, zero=True)}
        return trials | {"another 4 gradients": ListTrial(seed + 6, 4, device)} | zero

    def judge(self, trials: Mapping[str, ListTrial], observations: Mapping[str, Observation]) -> Verdict:
        message = ""
        sums: list[bool] = []
        right = ""
        averages = False
        for name, trial in trials.items():
            seen, gradients = observations[name], torch.stack(trial.gradients()).cpu()
            precision = str(gradients.dtype).removeprefix("torch.")
            digits = "float64" if precision == "float64" else "float32"  # the mean of a single one has all of its digits
            if seen.failure:
                message = message or seen.failure.message
            elif "value" not in seen.tensors:
                message = message or returned_instead(seen.facts["type"], "a tensor")
            elif not close(seen.tensors["value"].double(), gradients.double().mean(0), digits):
                earlier = f" {KEPT.format(right)}" if right else ""
                message = message or f"For {name}, {_in_words(seen.tensors['value'], gradients.double(), earlier)}"
                if trial.count > 1:
                    sums.append(close(seen.tensors["value"].double(), gradients.double().sum(0), digits))
            elif (dtype := str(seen.tensors["value"].dtype).removeprefix("torch.")) != precision:
                message = message or f"The gradients are {precision}, and your tensor is {dtype}."
            elif not seen.facts["kept"]:
                message = message or "Your function changed the list of gradients it was given, or a gradient in it."
            else:
                right = right or name
                averages = averages or trial.count > 1
        mistakes = (mistake("no-scale"),) if sums and all(sums) and not averages else ()
        return self.verdict({"mean": message}, mistakes=mistakes, failure=first_failure(observations))


def _others(gradients: torch.Tensor) -> dict[str, torch.Tensor]:
    """What may be taken for the mean, by what it is."""
    ordered, present = gradients.sort(0).values, (gradients != 0).sum(0).clamp(min=1)
    not_zero = gradients.flatten(1).any(1).sum().clamp(min=1)
    return {
        "their mean without those that are zero": gradients.sum(0) / not_zero,
        "their median, number by number": gradients.median(0).values,
        "their mean without the smallest and the largest number": (ordered[1:-1] if len(ordered) > 2 else ordered).mean(0),
        "their sum divided by how many are not zero, number by number": gradients.sum(0) / present,
        "their sum divided by its own length": gradients.sum(0) / gradients.sum(0).norm(),
        "their mean rounded down to whole numbers": gradients.mean(0).floor(),
        "the mean of their numbers without the signs": gradients.abs().mean(0),
        "the mean of their numbers cut off at -1 and 1": gradients.clamp(-1, 1).mean(0),
    }


def _in_words(value: torch.Tensor, gradients: torch.Tensor, earlier: str) -> str:
    """What a wrong tensor is in place of the mean of these gradients ``(count, length)``, as the end of a sentence.

    If it has nothing to do with them, ``earlier`` follows, a sentence on an earlier call.
    """
    count, shape = len(gradients), tuple(gradients[0].shape)
    if tuple(value.shape) != shape:
        return f"your tensor has the shape {tuple(value.shape)}, where that of a gradient is due, {shape}."
    value, mean = value.to(gradients), gradients.mean(0)
    if not torch.isfinite(value).all():
        return "your tensor holds values that are no longer numbers (NaN or inf)."
    for words, other in _others(gradients).items():
        if close(value, other, "float64"):
            return f"your tensor is {words}, where their mean is due."
    if (off := float((value - mean).norm() / mean.norm())) < CLOSE_BY:
        return f"your tensor is close to their mean, but {100 * off:.2g}% away from it."
    different = gradients.unique(dim=0)
    alike = [[k for k, gradient in enumerate(gradients, 1) if torch.equal(gradient, one)] for one in different]
    columns, values = different.flatten(1).T, value.reshape(-1, 1)
    shares = torch.linalg.lstsq(columns, values).solution[:, 0]
    if float((values[:, 0] - columns @ shares).norm()) > SAME * float(value.norm()):
        return f"your tensor is neither their mean nor any other weighted sum of them.{earlier}"
    # Which of two equal gradients a share is of cannot be told.
    present = sorted((places, float(share)) for places, share in zip(alike, shares, strict=True) if abs(share) > SAME)
    of_each = [share / len(places) for places, share in present]
    if len(present) == len(alike) and max(of_each) - min(of_each) < SAME:
        held = f"{as_fraction(of_each[0])} of each"
    else:
        held = ", ".join(f"{as_fraction(share)} of {_called(places, count)}" for places, share in present) or "none of them"
    return f"{as_fraction(1 / count)} of each gradient is due, and your tensor holds {held}."


def _called(places: list[int], count: int) -> str:
    """``"gradient 2"``, or ``"gradients 1 and 5 together, which are equal (2/5 is due)"``, of ``count`` gradients."""
    numbers = " and ".join(map(str, places))
    if len(places) == 1:
        return f"gradient {numbers}"
    return f"gradients {numbers} together, which are equal ({as_fraction(len(places) / count)} is due)"
