"""What is wrong with a training loop with a schedule, and what a wrong one counts instead of updates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_05_learning_rate.observing import ScheduleTrial, observe_scheduled
from autograder.judging.calls import same_value
from autograder.judging.large_batches import (
    forwards_message,
    large_batch_parameters,
    window_gradient,
)
from autograder.judging.number_relations import rows_in_words
from autograder.judging.reported_losses import CHANGED_LATER, Losses, loss_mistakes, same_numbers, window_losses
from autograder.judging.tolerances import close
from autograder.support.counted import counted
from autograder.support.side_by_side import side_by_side
from gradaccum.diagnosis.search import Candidate, each_alone, first_match
from gradaccum.loops.schedules import WRONG_SCHEDULES


def movement_message(trial: ScheduleTrial, seen: Observation) -> str:
    """What is wrong with the parameters after training; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    start, due = large_batch_parameters(trial.loop.problem, rate_factors=trial.factors)
    if not close(seen.tensors["parameters"].to(due) - start, due - start, trial.loop.problem.dtype):
        return "The parameters after training are not those of large batches at the schedule's rates."
    return ""


def cut_message(trial: ScheduleTrial, seen: Observation) -> str:
    """What is wrong with the forwards of a loop whose updates are right; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    problem = trial.loop.problem
    return forwards_message(problem, window_gradient(problem, seen) / trial.factors[0])


MADE_UP_FOR = (
    "Each of your updates alone is the one due, because its rate makes up for the scale of its gradient. Momentum, though, "
    "carries each gradient into later updates, where the scale is another."
)
"""What is wrong with such a loop where the scale changes from window to window."""


def at_due_rates(trial: ScheduleTrial, seen: Observation) -> Observation | None:
    """A frozen run as if each update had used the rate due, and the gradient with which it would have moved as far.

    None if it made more or fewer updates than are due.
    """
    movements, due = seen.tensors["movements"], sum(map(len, _rates_due(trial)))
    if len(movements) != due:
        return None
    gradients = movements / _rates_due_in_a_row(trial, due).to(movements)[:, None]
    return replace(seen, tensors=seen.tensors | {"gradients": gradients, "movements": gradients * trial.loop.problem.lr})


SCALED_RATES = ("lr-scaled-too", "lr-multiplied")
"""Mistakes that are none where the scale of the gradient makes up for the rate."""


def scale_varies(trial: ScheduleTrial, seen: Observation) -> bool:
    """Whether the rates that a frozen run's updates have are not all the same multiple of those due."""
    used = rates_used(seen)
    scales = used / _rates_due_in_a_row(trial, len(used)).to(used)
    scales = scales[~scales.isnan()]
    return not _same_rates(scales, scales[:1].expand_as(scales))


RATES = 1e-6
"""Relative difference up to which returned rates are right: a float32 tensor keeps 24 bits. Neighbours in a schedule are
equal, or differ by more than 1e-3."""


SAME_RATE = 1e-4
"""Relative difference up to which updates have the same rate; rates of wrong schedules differ by more than 1e-3."""


def rates_message(trial: ScheduleTrial, seen: Observation, updates_right: bool) -> str:
    """What is wrong with the returned rates; empty if nothing is.

    Args:
        trial: one with frozen parameters, or one in which the updates are right.
        seen: what a loop did on it.
        updates_right: whether the updates are known to have the rates that are due.
    """
    if seen.failure:
        return seen.failure.message
    if seen.facts["losses_changed"]:
        return CHANGED_LATER
    if any(row is None for row in seen.facts["losses"]):
        return "Return a list with one plain number for each update: its rate."
    due = _rates_due(trial)
    for k, (row, wanted) in enumerate(zip(seen.facts["losses"], due, strict=True), 1):
        if len(row) != len(wanted):
            numbers, are_due = counted(len(row), "number"), f"{len(wanted)} {'is' if len(wanted) == 1 else 'are'} due"
            return f"The list you return for epoch {k} has {numbers}, where {are_due}: one for each update."
    used = rates_used(seen)[seen.tensors["gradients"].any(1)]  # a step without gradients has no rate
    shown = len(used) == sum(map(len, due)) and not used.isnan().any()
    flat = torch.tensor([rate for row in due for rate in row]).to(used)
    as_due = shown and _same_rates(used, flat)
    if not same_value(seen.facts["losses"], due, RATES):
        returned = torch.tensor([rate for row in seen.facts["losses"] for rate in row]).to(used)
        as_used = not (updates_right or as_due) and shown and _same_rates(used, returned)
        words = "" if as_used else _in_words(trial, seen.facts["losses"], due)
        known = "those the updates used, but not" if as_used else "not"
        return f"The numbers returned are {known} the rates that were due.{words and f' {words}'}"
    if updates_right or as_due:
        return ""
    if shown:
        return "The numbers returned are not the rates the updates used."
    return "The rates you return are right, but the optimizer that you are given did not apply a gradient once for each."


def _in_words(trial: ScheduleTrial, returned: Losses, due: Losses) -> str:
    """What the numbers are that were returned in place of rates, as a sentence."""
    problem = trial.loop.problem
    if trial.loop.frozen and (same_numbers(returned, window_losses(problem)) or loss_mistakes(problem, returned)):
        return "They are made of losses."
    return rows_in_words(returned, due, "Each of your rates", RATES)


def _rates_due(trial: ScheduleTrial, ahead: int = 0) -> list[list[float]]:
    """For each epoch the rates that are due for its updates, or for updates that come ``ahead`` updates later."""
    problem, factors = trial.loop.problem, iter(trial.factors[ahead:])
    counts = [math.ceil(len(sizes) / problem.accumulation_steps) for sizes in problem.epochs]
    return [[problem.lr * next(factors) for _ in range(count)] for count in counts]


def report_mistakes(trials: Mapping[str, ScheduleTrial], observations: Mapping[str, Observation]) -> tuple[str, ...]:
    """The mistakes of a loop whose updates are right and that reports other rates."""
    for name in ("rates", "leftover"):
        seen = observations[name]
        if seen.failure or not same_value(seen.facts["losses"], _rates_due(trials[name], ahead=1), RATES):
            return ()
    return ("rate-of-next",)


def rates_in_words(trial: ScheduleTrial, seen: Observation) -> str:
    """The first update with another rate than the one that is due, as a sentence; empty if there is none.

    The trial's parameters are frozen, or its updates have no momentum.
    """
    if seen.failure:
        return ""
    used, windows, which = rates_used(seen), sum(map(len, _rates_due(trial))), "Update"
    of_schedule = [trial.loop.problem.lr * factor for factor in trial.factors]
    if len(used) > windows:  # empty updates move the schedule on
        used, which = used[seen.tensors["gradients"].any(1)], "Of the updates that have a gradient, number"
    if len(used) != windows:
        return ""
    for k, (rate, due) in enumerate(zip(used.tolist(), of_schedule, strict=False)):
        if not (math.isnan(rate) or math.isclose(rate, due, rel_tol=SAME_RATE)):  # without a gradient it is not known
            others = [j + 1 for j, other in enumerate(of_schedule) if math.isclose(rate, other, rel_tol=SAME_RATE)]
            if others:
                return f"{which} {k + 1} uses the rate that is due for update {others[0]}."
            used_here, due_here = side_by_side(rate, due)
            return f"{which} {k + 1} uses the rate {used_here}, where {due_here} is due."
    return ""


Play = Callable[[ScheduleTrial, int], Tensor]
"""The rates that updates have, by a trial and how many updates a loop made on it."""

Run = tuple[ScheduleTrial, int]
"""A trial, and how many updates a loop made on it."""


def schedule_mistakes(
    runs: Mapping[str, tuple[ScheduleTrial, Observation]], right_on: ScheduleTrial | None = None
) -> tuple[str, ...]:
    """The mistakes with the schedule, by the rates that the updates of all runs had; their parameters are frozen.

    If the updates were right on windows like those of the trial ``right_on``, no mistake is named that changes their rates.
    """
    if any(seen.failure for _, seen in runs.values()):
        return ()
    rates = {trial: rates_used(seen) for trial, seen in runs.values()}
    found: dict[Run, Tensor] = {(trial, len(used)): used for trial, used in rates.items()}
    right: Candidate[Play] = Candidate(_rates_due_in_a_row, ())
    candidates: list[Candidate[Play]] = [right, *each_alone(WRONG_RATES)]
    if right_on:
        updates = sum(map(len, _rates_due(right_on)))
        due = _rates_due_in_a_row(right_on, updates)
        candidates = [one for one in candidates if _same_rates(one.variant(right_on, updates), due)]
    match = first_match(candidates, found, lambda play, run: play(*run), _same_rates)
    return match.mistakes if match else ()


def _rates_due_in_a_row(trial: ScheduleTrial, updates: int) -> Tensor:
    last = len(trial.factors) - 1
    return torch.tensor([trial.loop.problem.lr * trial.factors[min(k, last)] for k in range(updates)], dtype=torch.float64)


def _times(factor: Callable[[int, int, bool], float]) -> Play:
    """Rates that are due, times a factor made of the micro-batches in a window, of N, and of whether it begins an epoch."""

    def play(trial: ScheduleTrial, updates: int) -> Tensor:
        steps, epochs = trial.loop.problem.accumulation_steps, trial.loop.problem.epochs
        windows = [(min(steps, len(sizes) - k), steps, k == 0) for sizes in epochs for k in range(0, len(sizes), steps)]
        if updates != len(windows):  # which update belongs to which window is not known
            windows = [(steps, steps, False)] * updates
        return _rates_due_in_a_row(trial, updates) * torch.tensor([factor(*w) for w in windows], dtype=torch.float64)

    return play


def _as_by(loop: Callable) -> Play:
    """The rates that a wrong loop's updates have."""
    return lambda trial, updates: rates_used(observe_scheduled(loop, trial))


WRONG_RATES: dict[str, tuple[Play, ...]] = {
    "lr-scaled-too": (_times(lambda present, n, first: 1 / present), _times(lambda present, n, first: 1 / n)),
    "lr-multiplied": (
        _times(lambda present, n, first: present),
        _times(lambda present, n, first: n),
        _times(lambda present, n, first: n if first else 1),  # set once, until the schedule sets the rate again
    ),
    **{slug: tuple(map(_as_by, loops)) for slug, loops in WRONG_SCHEDULES.items()},
}
"""For each mistake the rates that updates have with it."""


def rates_used(seen: Observation) -> Tensor:
    """``(U,)``: how far each update moved the parameters in units of its gradient; NaN where there was no gradient."""
    gradients, movements = seen.tensors["gradients"].double(), seen.tensors["movements"].double()  # a loop may change the dtype
    return (gradients * movements).sum(1) / gradients.square().sum(1)


def _same_rates(found: Tensor, other: Tensor) -> bool:
    """Whether two runs had the same rates wherever both are known; rates of wrong schedules differ by more than 1e-3."""
    if found.shape != other.shape:
        return False
    other = other.to(found)
    seen = ~(found.isnan() | other.isnan())
    return torch.allclose(found[seen], other[seen], rtol=SAME_RATE, atol=0)
