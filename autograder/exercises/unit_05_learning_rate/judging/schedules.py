"""What is wrong with a training loop with a schedule, and what a wrong one counts instead of updates."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_05_learning_rate.observing import ScheduleTrial, observe_scheduled
from autograder.judging.calls import same_value
from autograder.judging.comparing import close
from autograder.judging.large_batches import large_batch_parameters
from gradaccum.diagnosis.search import each_alone, first_match
from gradaccum.loops.schedules import WRONG_SCHEDULES


def movement_message(trial: ScheduleTrial, seen: Observation) -> str:
    """What is wrong with the parameters after training; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    start, due = large_batch_parameters(trial.loop.problem, rate_factors=trial.factors)
    if not close(seen.tensors["parameters"].to(due) - start, due - start, trial.loop.problem.dtype):
        return "The parameters after training are not those of large batches at the schedule's rates."
    return ""


RATES = 1e-6
"""Relative difference up to which returned rates are right: a float32 tensor keeps 24 bits. Neighbours in a schedule differ by
more than 1e-3."""


def rates_message(trial: ScheduleTrial, seen: Observation, updates_right: bool) -> str:
    """What is wrong with the returned rates; empty if nothing is.

    Args:
        trial: one with frozen parameters, or one in which the updates are right.
        seen: what a loop did on it.
        updates_right: whether the updates are known to have the rates that are due.
    """
    if seen.failure:
        return seen.failure.message
    if any(row is None for row in seen.facts["losses"]):
        return "Return a list with one rate for each update, a plain number each."
    due = _rates_due(trial)
    if [len(row) for row in seen.facts["losses"]] != [len(row) for row in due]:
        return "The list you return does not have one number for each update."
    used = rates_used(seen)
    if not same_value(seen.facts["losses"], due, RATES):
        returned = torch.tensor([rate for row in seen.facts["losses"] for rate in row]).to(used)
        as_used = not updates_right and _same_rates(used, returned)
        return f"The numbers returned are {'those the updates used, but not' if as_used else 'not'} the rates that were due."
    flat = torch.tensor([rate for row in due for rate in row]).to(used)
    unlike = not updates_right and len(used) == len(flat) and not _same_rates(used, flat)
    return "The numbers returned are not the rates the updates used." if unlike else ""


def _rates_due(trial: ScheduleTrial, ahead: int = 0) -> list[list[float]]:
    """For each epoch the rates that are due for its updates, or for updates that come ``ahead`` updates later."""
    problem, factors = trial.loop.problem, iter(trial.factors[ahead:])
    counts = [math.ceil(len(sizes) / problem.accumulation_steps) for sizes in problem.epochs]
    return [[problem.lr * next(factors) for _ in range(count)] for count in counts]


def report_mistakes(trial: ScheduleTrial, seen: Observation) -> tuple[str, ...]:
    """The mistakes of a loop whose updates are right and that reports other rates."""
    if not seen.failure and same_value(seen.facts["losses"], _rates_due(trial, ahead=1), RATES):
        return ("rate-of-next",)
    return ()


def schedule_mistakes(trial: ScheduleTrial, seen: Observation) -> tuple[str, ...]:
    """The mistakes with the schedule, by the rates that the updates of a run with frozen parameters had."""
    rates = rates_used(seen)
    positions = [min(k, len(trial.factors) - 1) for k in range(len(rates))]  # the schedule stays at its end
    due = torch.tensor([trial.factors[k] for k in positions]).to(rates) * trial.loop.problem.lr
    if _same_rates(rates, due):
        return ()
    steps = trial.loop.problem.accumulation_steps
    epochs = trial.loop.problem.epochs
    present = torch.tensor([min(steps, len(e) - k) for e in epochs for k in range(0, len(e), steps)]).to(rates)
    always = torch.full_like(present, steps)
    first = torch.tensor([k == 0 for e in epochs for k in range(0, len(e), steps)])
    if len(rates) <= len(present):  # at most one update for each window
        if any(_same_rates(rates, due / count[: len(due)]) for count in (present, always)):
            return ("lr-scaled-too",)
        if any(_same_rates(rates, due * count[: len(due)]) for count in (present, always, always.where(first, 1.0))):
            return ("lr-multiplied",)
    match = first_match(
        each_alone(WRONG_SCHEDULES),
        {trial: rates},
        lambda loop, trial: rates_used(observe_scheduled(loop, trial)),
        _same_rates,
    )
    return match.mistakes if match else ()


def rates_used(seen: Observation) -> Tensor:
    """``(U,)``: how far each update moved the parameters in units of its gradient; NaN where there was no gradient."""
    gradients, movements = seen.tensors["gradients"].double(), seen.tensors["movements"].double()  # a loop may change the dtype
    return (gradients * movements).sum(1) / gradients.square().sum(1)


def _same_rates(found: Tensor, other: Tensor) -> bool:
    """Whether two runs had the same rates wherever both are known; rates of wrong schedules differ by more than 1e-3."""
    if found.shape != other.shape:
        return False
    seen = ~(found.isnan() | other.isnan())
    return torch.allclose(found[seen], other[seen], rtol=1e-4, atol=0)
