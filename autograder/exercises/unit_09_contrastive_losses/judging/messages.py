"""What a window's contrastive loss has left in the gradients, compared with what is due, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.diagnosing.loop_diagnosis import NEARLY
from autograder.exercises.unit_09_contrastive_losses.judging.loss_variants import LossVariant, distance, name_scale, stale
from autograder.exercises.unit_09_contrastive_losses.judging.references import (
    changes_parameters,
    due,
    found_towers,
    left_alone,
    reported_loss,
    same_towers,
)
from autograder.exercises.unit_09_contrastive_losses.observing import ContrastiveTrial, Towers
from autograder.judging.returned_kinds import returned_instead
from autograder.judging.tolerances import TOLERANCE, close
from gradaccum.diagnosis.catalogue import Mistake, mistake
from gradaccum.loops.contrastive import one_large_batch
from gradaccum.problems.contrastive import ContrastiveProblem

NOTHING = "The encoders have no gradient."
"""What :func:`towers_message` says in this case."""


def towers_message(trial: ContrastiveTrial, seen: Observation) -> str:
    """What is wrong with the gradient of the encoders; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    problem = trial.problem
    found = found_towers(problem, seen)
    if found is None:
        return "There are values in .grad of the encoders that are no numbers (NaN or inf)."
    empty = [name for name, tensor in found.items() if not tensor.any()]
    if len(empty) == len(found):
        return NOTHING
    if empty:
        return f"The encoder of {empty[0]} has no gradient of the loss."
    if not same_towers(problem, found, due(problem).towers):
        changed = ""
        if changes_parameters(problem, seen):
            changed = " Parameters have changed, too; only .grad should."
        elif seen.facts.get("inputs_changed") is not False:
            changed = " The images or texts have changed, too."
        return _wrong_towers(problem, found) + changed
    return left_alone(problem, seen)


def _wrong_towers(problem: ContrastiveProblem, found: Towers) -> str:
    wanted = due(problem).towers
    wrong = [name for name in wanted if not close(found[name], wanted[name], problem.dtype)]
    if len(wrong) == len(wanted):
        return "What is in .grad of the encoders is not the gradient of the whole window's loss."
    (right,) = wanted.keys() - set(wrong)
    return f"What is in .grad of the encoder of {wrong[0]} is not the gradient of the whole window's loss. That of {right} is."


def towers_in_words(problem: ContrastiveProblem, found: Towers | None) -> str:
    """How far the encoders' gradient is from the one due; empty if it cannot be told."""
    if found is None:
        return ""
    cosine, length = distance(problem, found)
    if 1 + length**2 - 2 * length * cosine < NEARLY**2:
        return (
            "The encoders' gradient is the one due except for less than 1% of it, as if numbers had lost digits on the way "
            "or a small factor had come in."
        )
    if cosine > 1 - 1e-6:
        return f"The encoders' gradient points the right way, but is {_ratio(length)} times as long as it should be."
    return f"The encoders' gradient has a cosine of {_ratio(cosine)} with the one due and is {_ratio(length)} times as long."


def _ratio(value: float) -> str:
    """A ratio to two decimals, or to more if it would look like 0 or 1."""
    short = f"{value:.2f}"
    if short.lstrip("-") not in ("0.00", "1.00"):
        return short
    return f"{value:.7g}" if short.endswith("1.00") else f"{value:.3g}"


def scale_message(trial: ContrastiveTrial, seen: Observation) -> str:
    """What is wrong with the gradient of logit_scale; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    wanted, found = due(trial.problem).scale, seen.tensors.get("gradient/scale")
    if found is not None and close(found.to(wanted), wanted, trial.problem.dtype):
        return ""
    if found is None or found.shape != wanted.shape or not torch.isfinite(found).all():
        return "What is in .grad of logit_scale is not a number."
    if not found.any():
        return "logit_scale has no gradient."
    return f"The gradient of logit_scale is {_ratio(float(found.to(wanted) / wanted))} times the one due."


MIN_SCALE = 1e-3
"""Smallest gradient of logit_scale that is one, over the one due: mistakes leave 1/N of it, or nothing."""


def stale_message(trials: Mapping[str, ContrastiveTrial], observations: Mapping[str, Observation]) -> str:
    """What is wrong if logit_scale kept what it held before; empty if it did not.

    Its gradient is then another multiple of what is due than on the trial where it held nothing. If it is wrong there as well,
    it has to be the same multiple.
    """
    times = {}
    for name in ("encoders", "clean"):
        wanted, found = due(trials[name].problem).scale, observations[name].tensors.get("gradient/scale")
        if found is None or found.shape != wanted.shape:
            return ""  # there is nothing to compare, and another part says so
        times[name] = found.to(wanted) / wanted
    dtype = trials["clean"].problem.dtype
    if not close(times["clean"], times["encoders"], dtype):
        if scale_message(trials["encoders"], observations["encoders"]):  # what else is wrong may differ from window to window
            return "This can be judged once the gradient of logit_scale is right where .grad held nothing."
        return "Where .grad of logit_scale held something before, it is not the gradient due, as if that were still in it."
    return "" if float(times["clean"].abs()) > MIN_SCALE else "This can be judged once logit_scale has a gradient."


def loss_message(trial: ContrastiveTrial, seen: Observation) -> str:
    """What is wrong with the returned loss; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if "type" in seen.facts:
        return returned_instead(seen.facts["type"], "the loss, a number,")
    loss, wanted = reported_loss(seen), due(trial.problem).loss
    if loss is not None and abs(loss - wanted) <= TOLERANCE[trial.problem.dtype] * wanted:
        return ""
    words = "" if loss is None else _other_loss(trial.problem, loss, wanted)
    return f"The number you return is not the loss of the whole window.{words}"


def _other_loss(problem: ContrastiveProblem, loss: float, wanted: float) -> str:
    """What a wrong loss is, as a sentence to append; empty if nothing known."""
    batches = problem.batches()
    pairs = sum(len(images) for images, _ in batches)
    own = _own_losses(problem)
    others = {
        "the loss times the number of pairs": wanted * pairs,
        "the loss divided by the number of pairs": wanted / pairs,
        "the loss times the number of micro-batches": wanted * len(batches),
        "the loss divided by the number of micro-batches": wanted / len(batches),
        "the mean of the losses that micro-batches have on their own pairs alone": sum(own) / len(own),
        "the sum of the losses that micro-batches have on their own pairs alone": sum(own),
        "the loss of the last micro-batch on its own pairs alone": own[-1],
        "the loss of all micro-batches but those of one pair": _loss_of(problem, [b for b in batches if len(b[0]) > 1]),
    }
    words = next((words for words, other in others.items() if abs(loss - other) <= TOLERANCE[problem.dtype] * other), "")
    return words and f" It is {words}."


def _own_losses(problem: ContrastiveProblem) -> list[float]:
    """The loss of each micro-batch on its own pairs alone."""
    return [_loss_of(problem, [batch]) for batch in problem.batches()]


def _loss_of(problem: ContrastiveProblem, batches: Sequence[tuple[Tensor, Tensor]]) -> float:
    """The loss of some micro-batches as one batch; no number if there are none."""
    return float(one_large_batch(*problem.build(), batches)) if batches else math.nan


def scale_slugs(problem: ContrastiveProblem, variant: LossVariant, seen: Observation) -> tuple[str, ...]:
    """The mistakes that explain the gradient of logit_scale, given how the encoders' came about."""
    found, wanted = seen.tensors.get("gradient/scale"), due(problem).scale
    if found is None or found.shape != wanted.shape or not torch.isfinite(found).all():
        return ()
    return name_scale(problem, variant, found.to(wanted))


def loss_slugs(problem: ContrastiveProblem, variant: LossVariant, seen: Observation) -> tuple[str, ...]:
    """The mistakes in the returned loss alone; other negatives or directions make another loss, which needs no name."""
    loss, wanted, n = reported_loss(seen), due(problem).loss, len(problem.sizes)
    if loss is None or variant.negatives != "window" or variant.loss != "mean":
        return ()
    factors = {"loss-summed": n, "loss-scaled-in-log": 1 / n}
    return tuple(slug for slug, factor in factors.items() if abs(loss - factor * wanted) <= 1e-4 * factor * wanted)


def adds_directions(problem: ContrastiveProblem, seen: Observation) -> bool:
    """Whether the returned loss is twice the one due, or the gradient of logit_scale is, as if both directions were added.

    If the gradient of logit_scale is the one due, they were not.
    """
    wanted, loss, found = due(problem), reported_loss(seen), seen.tensors.get("gradient/scale")
    if found is not None and found.shape == wanted.scale.shape:
        if close(found.to(wanted.scale), wanted.scale, problem.dtype):
            return False
        if close(found.to(wanted.scale), 2 * wanted.scale, problem.dtype):
            return True
    return loss is not None and abs(loss - 2 * wanted.loss) <= 2 * TOLERANCE[problem.dtype] * wanted.loss


def keeps_old_scale(trial: ContrastiveTrial, seen: Observation) -> bool:
    """Whether the gradient of logit_scale is the one due and what ``.grad`` held before."""
    wanted, found = due(trial.problem).scale, seen.tensors.get("gradient/scale")
    if found is None or found.shape != wanted.shape:
        return False
    return close(found.to(wanted), wanted + stale(trial.problem)["scale"].to(wanted), trial.problem.dtype)


OF_THE_WINDOW = {
    "loss-scaled-in-log": "The loss you return is that of the whole window, divided by the number of micro-batches.",
    "loss-summed": "The loss you return is that of the whole window, times the number of micro-batches.",
    "sum-reduction": "Your gradients are those of a loss that is summed over its pairs, where their mean is due.",
    "zero-every": "The encoders' gradients are those of the last micro-batch alone, as if only its loss went backward, or as "
    "if .grad were cleared before it.",
}
"""By slug, in place of a text that says why: here, the loss that goes backward may be the whole one, and there is no update."""


HINTS = {
    "loss-summed": "How often does the loss of the whole window go into the number you return?",
    "sum-reduction": "Does info_nce add the losses of its pairs, or average them?",
}
"""By slug, a hint in the words of this exercise."""


def in_words_of_windows(slug: str, ragged: bool = False) -> Mistake:
    """The catalogue's entry, in the words of this exercise; said only of ragged micro-batches if all others are right."""
    entry = mistake(slug)
    where = "With ragged micro-batches: " if ragged else ""
    return replace(entry, message=where + OF_THE_WINDOW.get(slug, entry.message), hint=HINTS.get(slug, entry.hint))
