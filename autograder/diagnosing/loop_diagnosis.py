"""What a loop computes instead of what was due, read off its fingerprint and what else was seen of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.diagnosing.update_words import updates_in_words
from autograder.judging.left_behind import DATA, kept_message, outside_message
from autograder.observing.loops import LoopTrial
from autograder.support.counted import counted
from gradaccum.diagnosis.loop_variants import Schedule
from gradaccum.diagnosis.naming import MATCH, Passes, name_mistakes
from gradaccum.fingerprint import LINEAR, Fingerprint, as_fraction, expected, micro_batch_gradients, solve
from gradaccum.fingerprint_words import listing

EARLY = "off-by-one-early"

NEARLY = 0.01
"""Largest part of an update that lost digits explain: those of 16-bit numbers are less than half of it."""


def read_observation(
    trial: LoopTrial, observation: Observation, *, training: bool = True, among: Tensor | None = None
) -> Fingerprint:
    """The fingerprint of a loop that was observed with frozen parameters.

    Args:
        trial: what it ran on.
        observation: what it did.
        training, among: as for :func:`gradaccum.fingerprint.solve`.

    Raises:
        ValueError: the micro-batch gradients are not linearly independent, or not among these entries.
    """
    movements = observation.tensors["movements"] / trial.problem.lr
    problem = trial.problem.with_(device="cpu")
    gradients, epochs = observation.tensors["gradients"], observation.facts["update_epochs"]
    return solve(gradients, movements, epochs, problem, training=training, among=among)


@dataclass(frozen=True)
class Diagnosis:
    """What a loop computes instead of what was due.

    Attributes:
        slugs: the mistakes that explain its fingerprint; empty if none are known to.
        remark: what is wrong, in words, where no mistake explains it; empty otherwise.
        found: its fingerprint; None if there is none, or if it is the expected one.
        expected: the fingerprint of a right loop.
        beside: what else than the gradients, of which the mistakes are, moves the parameters otherwise; empty if nothing does.
    """

    slugs: tuple[str, ...]
    remark: str
    found: Fingerprint | None
    expected: Fingerprint
    beside: str = ""


def diagnose(trial: LoopTrial, observation: Observation, *elsewhere: tuple[LoopTrial, Observation]) -> Diagnosis:
    """What a loop computes instead, from its fingerprint and from what else was observed.

    Mistakes are named only if they also explain the fingerprints that it left ``elsewhere``, in other trials with frozen
    parameters.
    """
    due, facts = expected(trial.problem), observation.facts
    if observation.failure:
        return Diagnosis(_cut_off(facts) if facts.get("without_graph") else (), "", None, due)
    found, slugs_so_far = _linear_reading(trial, observation)
    if facts["forwards_in_evaluation"] and not facts["training_after"] and found.linear:
        slugs_so_far = tuple(dict.fromkeys((*slugs_so_far, "eval-mode")))
    micro_batches = sum(map(len, trial.problem.epochs))
    forwards, updates = facts["forwards_with_grad"] + facts["forwards_without_grad"], len(facts["update_epochs"])
    seen_ones = facts["micro_batches_seen"]
    n_times = max(2, trial.problem.accumulation_steps) * micro_batches
    passes = Passes(
        distinct=seen_ones == micro_batches or 0 < max(facts["forwards_with_grad"], facts["backwards"]) <= seen_ones,
        repeated=(facts["backwards"] or facts["forwards_with_grad"]) >= n_times,
        single=forwards <= updates,
    )
    ran = any(facts[what] for what in ("backwards", "forwards_with_grad", "forwards_without_grad"))
    others = {t.problem: read_observation(t, seen) for t, seen in elsewhere if not seen.failure}
    linear: dict[Schedule, Fingerprint] = {p: other for p, other in others.items() if other.linear}
    aside = _not_along(trial, observation, found)
    if aside:  # then its movements say nothing of a rate
        found, linear = _at_full_rate(found), {p: _at_full_rate(other) for p, other in linear.items()}
    slugs = name_mistakes(found, trial.problem, passes, linear) if ran else None  # without a forward nothing was cleared
    if aside and slugs == ():
        slugs = None
    if slugs and EARLY in slugs and facts["seen_at_first_update"] >= trial.problem.accumulation_steps:
        slugs = None  # the update came in time, only without the gradients of some micro-batches that were there
    elif slugs and EARLY in slugs and facts["forwards_without_grad"] and seen_ones < micro_batches:
        slugs = ("grad-disabled",)  # those that went through without gradients may have filled the window
    if slugs == ("zero-before-step",) and bool(observation.tensors["gradients"].any()):
        slugs = None  # there is something, however little it is beside what is due
    shown = found if found.linear and not found.same_as(due) else None  # two equal pictures, or numbers that fit nothing
    if slugs is None:
        outside = outside_message(observation) if len(found.coefficients) else ""
        words = outside or parameters_in_words(trial, observation, due) or _updates_in_words(aside, observation, found, due)
        if not found.linear and kept_message(observation, DATA):  # they may be a combination of gradients of the changed ones
            words = outside
        elif not found.linear and (evaluating := facts["forwards_in_evaluation"]):
            words = f"{words} Of the model's forwards, {evaluating} ran in evaluation mode."
        return Diagnosis(slugs_so_far, words, shown, due)
    beside = NOT_ALONG.format(aside) if aside else ""
    if slugs and not aside and (raised := (found.rates > 1 + MATCH).nonzero()).numel():
        beside = _rate_in_words(int(raised[0]), float(found.rates[raised[0]]))
    return Diagnosis((*slugs_so_far, *_with_evidence(slugs, facts, micro_batches)), "", shown, due, beside)


def updates_in_trial(trial: LoopTrial, observation: Observation) -> str:
    """How the updates of a trial with frozen parameters differ from those due, in words; empty if not, or if it failed."""
    if observation.failure:
        return ""
    found = read_observation(trial, observation)
    aside = _not_along(trial, observation, found)
    return _updates_in_words(aside, observation, _at_full_rate(found) if aside else found, expected(trial.problem))


NOT_ALONG = (
    "Update {} does not move the parameters along its gradient alone: something else joins, such as weight decay or momentum."
)


def _updates_in_words(aside: int, observation: Observation, found: Fingerprint, due: Fingerprint) -> str:
    """How updates differ from those due: by their gradients, or by what else moves the parameters in update ``aside``."""
    words = difference_in_words(found, due, observation.tensors["gradients"].norm(dim=1))
    return words or (NOT_ALONG.format(aside) if aside else "")


def _at_full_rate(found: Fingerprint) -> Fingerprint:
    return replace(found, rates=torch.ones_like(found.rates))


def _not_along(trial: LoopTrial, observation: Observation, found: Fingerprint) -> int:
    """The number of the first update with a gradient that it does not move the parameters along; 0 if there is none."""
    if not found.linear:
        return 0
    moved, gradients = (observation.tensors[name].to(found.rates) for name in ("movements", "gradients"))
    aside = (moved / trial.problem.lr - found.rates[:, None] * gradients).norm(dim=1) * trial.problem.lr
    wrong = ((aside > MATCH * moved.norm(dim=1)) & gradients.any(1)).nonzero()
    return int(wrong[0]) + 1 if len(wrong) else 0


def _linear_reading(trial: LoopTrial, observation: Observation) -> tuple[Fingerprint, tuple[str, ...]]:
    """The fingerprint, and the mistakes that have to be assumed for it to be linear in the micro-batch gradients."""
    found = read_observation(trial, observation)
    if found.linear:
        return found, ()
    mixed = by_row(found, read_observation(trial, observation, training=False))
    if mixed.linear:
        return mixed, ("eval-mode",)
    gradients = observation.tensors["gradients"]
    reached = gradients.any(0)
    due = micro_batch_gradients(trial.problem.with_(device="cpu"))[: len(found.columns)]  # without what was there before
    if not reached.any() or not (due.any(0) & ~reached).any():
        return found, ()
    try:
        part = read_observation(trial, observation, among=reached)
    except ValueError:  # too few numbers are reached to tell the micro-batches apart; that the others are 0 can be seen
        return found, ("detached",)
    return (part, ("detached",)) if part.linear else (found, ())


def by_row(first: Fingerprint, second: Fingerprint) -> Fingerprint:
    """For each row the reading that explains it better, or the first: the mode may change from window to window."""
    take = first.residuals <= second.residuals
    stale = None if first.stale is None or second.stale is None else first.stale.where(take, second.stale)
    coefficients = first.coefficients.where(take[:, None], second.coefficients)
    return replace(first, coefficients=coefficients, residuals=first.residuals.where(take, second.residuals), stale=stale)


def parameters_in_words(trial: LoopTrial, observation: Observation, due: Fingerprint) -> str:
    """Which parameters' gradients are right at all updates, and which are not; empty if it is the same for all of them."""
    problem, gradients = trial.problem.with_(device="cpu"), observation.tensors["gradients"]
    if len(gradients) != len(due.coefficients):
        return ""
    right_rows = due.coefficients @ micro_batch_gradients(problem)[: len(due.columns)]
    named = [(name, p.numel()) for name, p in problem.build_model().named_parameters() if p.requires_grad]
    kinds: dict[bool, list[str]] = {True: [], False: []}
    sizes = [size for _, size in named]
    for (name, _), found, wanted in zip(
        named, gradients.to(right_rows).split(sizes, 1), right_rows.split(sizes, 1), strict=True
    ):
        kinds[bool((found - wanted).norm() <= LINEAR * wanted.norm())].append(name)
    if not all(kinds.values()):
        return ""
    right, wrong = listing(kinds[True]), listing(kinds[False])
    return f"Some parameters of our model have the right gradient ({right}), others do not ({wrong})."


def difference_in_words(found: Fingerprint, due: Fingerprint, lengths: Tensor | None = None) -> str:
    """How two fingerprints differ, in words for students: as a whole, or in the first row that does; empty if none does.

    The ``lengths`` ``(U,)`` are those of the gradient at each update found.
    """
    if not found.linear:
        share = float(found.residuals.max())
        if math.isinf(share):
            return "Your updates hold values that are no longer numbers (NaN or inf)."
        alike = found.coefficients.shape == due.coefficients.shape
        old = found.stale is not None and bool((found.stale.abs() > NEARLY).any())
        same_rates = bool(((found.rates - 1).abs() <= NEARLY).all())
        close_by = alike and torch.allclose(found.coefficients, due.coefficients, rtol=0, atol=NEARLY)
        if share < NEARLY and close_by and same_rates and not old:
            return (
                "Your updates are those that are due except for less than 1% of each, as if numbers had lost digits on the way "
                "or a small term had come in."
            )
        part = f"up to {share:.0%}" if share >= 0.01 else "less than 1%"
        return (
            "Your updates are not a combination of micro-batch gradients at the window's parameters: "
            f"{part} of one is something else."
        )
    if not len(found.coefficients):
        return (
            "In a run of several windows, the optimizer you were given was not asked for any update: its step was not called."
        )
    if len(found.coefficients) == len(due.coefficients) and not _alike(found.coefficients, due.coefficients):
        applied = found.coefficients * found.rates[:, None]
        if not _alike(applied, found.coefficients):  # rates may make up for gradients
            for u, (row, right_row) in enumerate(zip(applied, due.coefficients, strict=True)):
                if not _alike(row, right_row):
                    held, wanted = _row_in_words(row), _row_in_words(right_row)
                    return f"At the learning rate that it is made with, update {u + 1} amounts to {held}; due were {wanted}."
    if words := updates_in_words(found, due, lengths):
        return words
    if len(found.coefficients) != len(due.coefficients):
        made = len(found.coefficients)
        return f"Your loop made {counted(made, 'update')} where {len(due.coefficients)} were due."
    for u, (row, right_row) in enumerate(zip(found.coefficients, due.coefficients, strict=True)):
        if not _alike(row, right_row):
            return _rows_in_words(u, row, right_row, 0.0 if found.stale is None else float(found.stale[u]))
    for u, rate in enumerate(found.rates.tolist()):
        if abs(rate - 1) > MATCH:
            return _rate_in_words(u, rate)
    return ""


def _rate_in_words(u: int, rate: float) -> str:
    if f"{rate:.3g}" == "1":  # of a factor near 1 its digits would say nothing
        return f"Update {u + 1} does not move the parameters exactly as far as its gradient and the learning rate say."
    return f"Update {u + 1} moves the parameters along its gradient {rate:.3g} times as far as the learning rate says."


def _alike(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, rtol=0, atol=MATCH)


def _cut_off(facts: dict[str, Any]) -> tuple[str, ...]:
    """The mistake that left the first loss without a graph: it was built without one, or cut from it."""
    if facts["backwards"] or not (facts["forwards_with_grad"] or facts["forwards_without_grad"]):
        return ()
    if not facts["forwards_with_grad"]:
        return ("grad-disabled",)
    return ("detached",) * bool(facts["last_forward_with_grad"])  # or the loss may be of any forward


def _with_evidence(slugs: tuple[str, ...], facts: dict[str, Any], micro_batches: int) -> tuple[str, ...]:
    """The slugs, corrected by what else was seen: a gradient that never existed looks like one that was cleared."""
    backwards = facts["backwards"]
    updates = len(facts["update_epochs"])
    if facts["forwards_without_grad"] and facts["forwards_with_grad"] <= updates < micro_batches:
        other = "grad-disabled"
    elif facts["forwards_in_graph"] and backwards <= updates < micro_batches:
        other = "detached"
    else:
        return slugs
    cleared = {"zero-every"} | (set() if backwards else {"zero-before-step"})
    return tuple(other if slug in cleared else slug for slug in slugs)


def _rows_in_words(u: int, row: Tensor, right_row: Tensor, before: float) -> str:
    """How a row differs from the one due: share by share, or by how much where the shares look alike."""
    share = float(((row - right_row).abs() / right_row.abs().clamp(min=1e-9)).max())
    if share < 0.01:
        return f"Update {u + 1} holds what is due of each micro-batch except for up to {share:.1g} of it."
    return f"Update {u + 1} holds {_row_in_words(row, before)}; due were {_row_in_words(right_row)}."


def _row_in_words(row: Tensor, before: float = 0.0) -> str:
    old = [f"{as_fraction(before)} of what .grad held before"] if abs(before) > 1e-4 else []
    new = [f"{as_fraction(value)} of micro-batch {k}" for k, value in enumerate(row.tolist(), 1) if abs(value) > 1e-4]
    return ", ".join(old + new) or ("next to nothing" if bool(row.any()) else "nothing")
