"""What is wrong with sums of gradients in float32, in words for students, and the mistakes they are made with."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.diagnosing.update_words import ROUND
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.float32_sums import (
    clipped_sums,
    float32_sums,
    otherwise_computed_sums,
    sums_as_if_all_like_first,
    sums_without_fusion,
)
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.messages import in_special
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import Float32SumTrial
from autograder.judging.left_behind import kept_message
from autograder.judging.returned_kinds import returned_instead
from autograder.support.counted import counted
from gradaccum.diagnosis.catalogue import Mistake, mistake

SUM_TOLERANCE = 0.02
"""Weights may be applied before or after rounding to bfloat16 (0.4 %, averaging out over the sum); a running sum in bfloat16
over 600 nearly equal addends stalls and is off by more than 30 %."""

TELLING_TOLERANCE = 0.04
"""On problems that tell what computed a gradient: when weights are rounded makes a difference up to 1.5 %; a float32 model
one of more than 9 %, another cut more than 5 times the gradient."""


def sums_message(seen: Observation, due: dict[str, Tensor], tolerance: float = SUM_TOLERANCE) -> str:
    """What is wrong with sums of gradients by parameter name; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if "type" in seen.facts:
        return returned_instead(seen.facts["type"], "a dictionary of tensors by parameter name")
    if seen.tensors.keys() != due.keys() or any(seen.tensors[name].shape != due[name].shape for name in due):
        return shapes_message(seen.tensors, due)
    if not sums_distance(seen.tensors, due) <= tolerance:
        return "The tensors are not the gradient of the mean loss over all samples."
    return ""


def right_sums_message(trial: Float32SumTrial, seen: Observation, tolerance: float = SUM_TOLERANCE) -> str:
    """What is wrong with the sums of a trial; empty if nothing is, however layers were rounded on the way."""
    message = sums_message(seen, float32_sums(trial)[()], tolerance)
    return "" if message and sums_distance(seen.tensors, sums_without_fusion(trial)) <= tolerance else message


def sums_in_words(observations: Mapping[str, Observation], due: Mapping[str, Mapping[tuple, dict[str, Tensor]]]) -> str:
    """What wrong sums are made of, or how long they are, as a sentence; empty if neither is simple."""
    found = {name: observations[name].tensors for name in due}
    right = {name: sums[()] for name, sums in due.items()}
    if any(sums_distance(found[name], right[name]) == torch.inf for name in due):
        return ""
    both = {name: right["sums"][name] + right["ragged"][name] for name in right["ragged"]}
    if sums_distance(found["sums"], right["sums"]) <= SUM_TOLERANCE and sums_distance(found["ragged"], both) <= SUM_TOLERANCE:
        return "At a second call your sums go on from those of the first, instead of beginning at zero."
    for name, trial in (("sums", 600), ("ragged", 24)):
        a, b = _flat(found[name], right[name]), _flat(right[name], right[name])
        factor = float(a @ b / b.square().sum())
        if abs(factor - 1) > SUM_TOLERANCE and (a - factor * b).norm() <= SUM_TOLERANCE * a.norm():
            return f"With {trial} micro-batches your tensors are {factor:.3g} times the gradient that is due."
    return ""


def shapes_message(found: dict[str, Tensor], due: dict[str, Tensor]) -> str:
    """Which of these names or shapes is wrong; one of them has to be."""
    if found and found.keys() - due.keys():
        return "A key of the dictionary you return is not the name of a parameter."
    if missing := sorted(due.keys() - found.keys()):
        return f"The dictionary you return has no tensor for {missing[0]}."
    other = next(name for name in due if found[name].shape != due[name].shape)
    return f"Your tensor for {other} does not have the shape of the parameter."


def sums_distance(found: dict[str, Tensor], due: dict[str, Tensor]) -> float:
    """Length of the difference over that of what is due; infinite if names or shapes differ."""
    if found.keys() != due.keys() or any(found[name].shape != due[name].shape for name in due):
        return torch.inf
    a, b = _flat(found, due), _flat(due, due)
    return float((a - b).norm() / b.norm())


FEW_DIGITS = "The tensors you return are called float32, but each of their numbers has no more digits than {}."
FEW_DIGITS_BEFORE = "Your sums are rounded to {} before you divide them by {}, the number of {}."

FEW_DECIMALS = "The numbers in the tensors you return have no more than {}."

DECIMALS = range(1, 6)
"""Of finer steps than these, a number in float32 is near one by chance."""

FLOAT32_STEPS = 4 * torch.finfo(torch.float32).eps
"""What multiplying a quotient by its divisor may leave, relative to it: numbers of 16 bits are more than 1,000 times as far
apart."""


def digits_message(trial: Float32SumTrial, seen: Observation) -> str:
    """That sums over many micro-batches, divided or not, have no more digits than numbers of 16 bits; empty if they have."""
    samples = sum(trial.sizes)
    for dtype in (torch.bfloat16, torch.float16):
        short = str(dtype).removeprefix("torch.")
        if _is_rounded(seen, dtype, 1):
            return FEW_DIGITS.format(short)
        for divisor, what in ((samples, "samples"), (trial.count, "micro-batches")):
            if _is_rounded(seen, dtype, divisor):
                return FEW_DIGITS_BEFORE.format(short, f"{divisor:,}", what)
    return ""


def decimals_message(seen: Observation) -> str:
    """That sums over many micro-batches have only a few decimals; empty if they have more."""
    sums = _flat(seen.tensors, seen.tensors)
    for decimals in DECIMALS:
        if ((sums - sums.round(decimals=decimals)).abs() <= FLOAT32_STEPS * sums.abs()).all():
            return FEW_DECIMALS.format(counted(decimals, "decimal"))
    return ""


def _is_rounded(seen: Observation, dtype: torch.dtype, divisor: int) -> bool:
    """Whether all tensors of an observation are numbers of a dtype, over the divisor."""
    sums = [tensor.double() * divisor for tensor in seen.tensors.values()]
    return all(((a - a.to(dtype).double()).abs() <= FLOAT32_STEPS * a.abs()).all() for a in sums)


LOST_IN_SUMS = "Where long gradients cancel, what the others add up to is wrong, as if some were not added up in float32."
"""Said of sums that are right but for what float32 would have kept."""

NOT_CANCELLED = "Where the gradients of two micro-batches are opposite and long, they do not cancel in your tensors."
FAR_OFF = 50
"""Distance from the sums due beyond which long gradients cannot have cancelled: they are off by more than 300 if one of them is
missing, and by less than 10 if the others are lost or wrongly weighted."""


def cancelling_message(trial: Float32SumTrial, seen: Observation) -> str:
    """What is wrong with sums in which the longest gradients cancel; empty if nothing is."""
    left, off = right_sums_message(trial, seen), sums_distance(seen.tensors, float32_sums(trial)[()])
    if not left or off == torch.inf:
        return left
    if off > FAR_OFF:
        return NOT_CANCELLED
    return (
        LOST_IN_SUMS
        if any(tensor.any() for tensor in seen.tensors.values())
        else f"With {trial.count} micro-batches your tensors are zero."
    )


NOT_FINITE = "Where .grad held infinity before the call, your tensors are not finite."
"""Said of sums that are right where it held something else."""

OF_ANOTHER_MODE = "For a model in evaluation mode, your tensors are not the gradient that it has in that mode."
"""Said of sums that are right for a model in training mode."""


def evaluation_message(trial: Float32SumTrial, seen: Observation) -> str:
    """What is wrong with finite sums of a model in evaluation mode; empty if nothing is."""
    message = right_sums_message(trial, seen)
    if message and sums_distance(seen.tensors, float32_sums(replace(trial, training=True))[()]) <= SUM_TOLERANCE:
        return OF_ANOTHER_MODE
    return in_special(
        f"With {trial.count} micro-batches, for a model in evaluation mode, where .grad holds infinity before the call", message
    )


def mode_in_words(trial: Float32SumTrial, seen: Observation) -> str:
    """That sums are those of a model in evaluation mode, which it was not in; empty if they are not."""
    other = float32_sums(replace(trial, training=False))[()]
    same = sums_distance(seen.tensors, other) <= SUM_TOLERANCE
    return (
        "Your tensors are the gradient of the model in evaluation mode, but you are given it in training mode." if same else ""
    )


def weights_in_sums(trial: Float32SumTrial, seen: Observation) -> str:
    """That sums are those of micro-batches that all count like the first; empty if they are not."""
    same = sums_distance(seen.tensors, sums_as_if_all_like_first(trial)) <= SUM_TOLERANCE
    return "Each micro-batch is weighted as if it held as many samples as the first." if same else ""


RIGHT_IF_FEW = "With 24 micro-batches your tensors are right, with 600 they are not."
"""Said of sums that nothing else explains."""


def lengths_in_sums(trial: Float32SumTrial, seen: Observation) -> str:
    """The round length to which each micro-batch's gradient is clipped before it is added; empty if none explains sums."""
    for limit, whole in itertools.product(ROUND, (True, False)):
        if sums_distance(seen.tensors, clipped_sums(trial, limit, whole=whole)) <= SUM_TOLERANCE:
            of = "a micro-batch" if whole else "a parameter"
            return f"The gradient of {of} is not longer than {limit:g} when you add it up: longer ones are shortened to that."
    return ""


def stalled(seen: Observation, due: dict[str, Tensor]) -> bool:
    """Whether sums stopped growing, some components sooner than others: in bfloat16 between a fifth and six sevenths of all."""
    if seen.tensors.keys() != due.keys() or any(seen.tensors[name].shape != due[name].shape for name in due):
        return False
    found, wanted = _flat(seen.tensors, due), _flat(due, due)
    cosine = torch.nn.functional.cosine_similarity(found, wanted, dim=0)
    return bool(0.9 < cosine < 0.999 and 0.2 < found.norm() / wanted.norm() < 0.85)


def _flat(tensors: dict[str, Tensor], names: Iterable[str]) -> Tensor:
    return torch.cat([tensors[name].double().reshape(-1) for name in sorted(names)])


def model_message(observations: Iterable[Observation]) -> str:
    """What is wrong with the dtype of what came back and with what became of the model; empty if nothing is."""
    for seen in observations:
        if seen.failure:
            return seen.failure.message
        if "type" in seen.facts or not seen.tensors:
            return "You return no tensors by parameter name, so their dtype cannot be checked."
        if others := [name for name, tensor in seen.tensors.items() if tensor.dtype != torch.float32]:
            every = len(others) == len(seen.tensors)
            return "The tensors you return are not float32." if every else f"Your tensor for {others[0][:40]} is not float32."
        if seen.facts["moved"]:
            return "Your function changed the model's parameters or their dtype."
        if seen.facts["converted"]:
            return "Forwards run with parameters that are not in bfloat16: that is not the model as it is."
        if changed := kept_message(seen):
            return changed
    return ""


def how_computed(trial: Float32SumTrial, seen: Observation) -> tuple[str, tuple[str, ...]]:
    """What is wrong with how right sums were computed, and the mistakes; empty if the model took micro-batches one by one."""
    if not right_sums_message(trial, seen, TELLING_TOLERANCE):
        return "", ()
    message = "These are not gradients that the model as it is computes for each micro-batch on its own."
    others = otherwise_computed_sums(trial).items()
    return message, next((slugs for slugs, sums in others if sums_distance(seen.tensors, sums) <= TELLING_TOLERANCE), ())


SUM_WORDS = {
    "no-scale": {
        "message": "The mean gradients of the micro-batches are added up as if nothing were divided by their number, where the "
        "mean over all samples was due.",
    },
    "mean-of-means": {
        "message": "Micro-batches are weighted as if all were equally large, although some hold fewer samples: as in a mean of "
        "means, the samples of small ones count too much.",
        "hint": "What share of all samples does a micro-batch have, and what weight should it get?",
    },
}
"""What replaces a text that speaks of windows and updates, of which this exercise has none."""


def in_words_of_sums(slug: str) -> Mistake:
    """The catalogue's entry, in the words of this exercise."""
    return replace(mistake(slug), **SUM_WORDS.get(slug, {}))
