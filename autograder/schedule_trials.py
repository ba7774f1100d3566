"""Training loops with a schedule: what right means, and what the schedule of a wrong one counts instead of updates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from autograder.call_trials import same_value
from autograder.exercise import Observation
from autograder.lookalikes import lookalike
from autograder.loop_trials import LoopTrial, close, large_batch_parameters, observe_loop
from gradaccum.loops_schedule import WRONG_SCHEDULES


@dataclass(frozen=True)
class ScheduleTrial:
    """A loop trial and the factors of its schedule, one for each position."""

    loop: LoopTrial
    factors: tuple[float, ...]

    def build_scheduler(self, optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LambdaLR:
        return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: self.factors[min(k, len(self.factors) - 1)])


def observe_scheduled(function: Callable, trial: ScheduleTrial) -> Observation:
    """Run a loop that also takes a scheduler; the schedule goes on from epoch to epoch."""
    schedulers: list = []

    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        if not schedulers:
            schedulers.append(trial.build_scheduler(optimizer))
        return function(model, loss_fn, optimizer, schedulers[0], micro_batches, accumulation_steps)

    return observe_loop(loop, trial.loop)


def movement_message(trial: ScheduleTrial, seen: Observation) -> str:
    """What is wrong with the parameters after training; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    start, due = large_batch_parameters(trial.loop.problem, rate_factors=trial.factors)
    if not close(seen.tensors["parameters"].to(due) - start, due - start, trial.loop.problem.dtype):
        return "The parameters after training are not those of large batches at the schedule's rates."
    return ""


def rates_message(trial: ScheduleTrial, seen: Observation) -> str:
    """What is wrong with the returned rates; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if any(row is None for row in seen.facts["losses"]):
        return "Return a list with one rate for each update, a plain number each."
    due = _rates_due(trial)
    if [len(row) for row in seen.facts["losses"]] != [len(row) for row in due]:
        return "The list you return does not have one number for each update."
    return "" if same_value(seen.facts["losses"], due) else "The numbers returned are not the rates the updates used."


def _rates_due(trial: ScheduleTrial, ahead: int = 0) -> list[list[float]]:
    """For each epoch the rates of its updates, or what they will be some updates later."""
    problem, factors = trial.loop.problem, iter(trial.factors[ahead:])
    counts = [math.ceil(len(sizes) / problem.accumulation_steps) for sizes in problem.epochs]
    return [[problem.lr * next(factors) for _ in range(count)] for count in counts]


def report_mistakes(trial: ScheduleTrial, seen: Observation) -> tuple[str, ...]:
    """Of a loop that updates as it should and reports something else."""
    if not seen.failure and same_value(seen.facts["losses"], _rates_due(trial, ahead=1)):
        return ("rate-of-next",)
    return ()


def schedule_mistakes(trial: ScheduleTrial, seen: Observation) -> tuple[str, ...]:
    """What the schedule counts instead of updates, by the rates that the updates of a frozen run had."""
    rates = rates_used(seen)
    due = torch.tensor(trial.factors[: len(rates)]).to(rates) * trial.loop.problem.lr
    if _same_rates(rates, due):
        return ()
    steps = trial.loop.problem.accumulation_steps
    present = torch.tensor([min(steps, len(e) - k) for e in trial.loop.problem.epochs for k in range(0, len(e), steps)])
    if any(_same_rates(rates, due / count[: len(due)]) for count in (present, torch.full_like(present, steps))):
        return ("lr-scaled-too",)
    candidates = [
        ((slug,), lambda name, loop=loop: observe_scheduled(loop, trial))
        for slug, loops in WRONG_SCHEDULES.items()
        for loop in loops
    ]
    return lookalike({"probe": seen}, candidates, lambda _, a, b: _same_rates(rates_used(a), rates_used(b)))


def rates_used(seen: Observation) -> Tensor:
    """``(U,)``: how far each update went for its gradient; not a number where there was none."""
    gradients, movements = seen.tensors["gradients"], seen.tensors["movements"]
    return (gradients * movements).sum(1) / gradients.square().sum(1)


def _same_rates(found: Tensor, other: Tensor) -> bool:
    """Whether two runs had the same rates wherever that can be seen; rates of wrong schedules differ by more than 1e-3."""
    if found.shape != other.shape:
        return False
    seen = ~(found.isnan() | other.isnan())
    return torch.allclose(found[seen], other[seen], rtol=1e-4, atol=0)
