"""Training loops over tokens: what right means, and how a loop that counts something else is recognised."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.diagnosing.loops import Diagnosis, diagnose
from autograder.exercises.unit_08_unequal_micro_batches.observing import observe_tokens
from autograder.judging.comparing import close
from autograder.judging.reported_losses import loss_mistakes, same_numbers, window_losses
from autograder.observing.loops import LoopTrial
from gradaccum.loops import windows
from gradaccum.loops.tokens import TOKEN_LOOPS
from gradaccum.problems import flat_parameters
from gradaccum.problems.tokens import PADDING_TOO, TokenProblem

OTHER_COUNTS: tuple[tuple[str, dict[str, str]], ...] = (
    ("sequences-for-tokens", {"weigh_by": "sequences"}),
    ("sequences-for-tokens", {"weigh_by": "sequences", "mean_over": "sequences"}),
    ("padding-counted", {"weigh_by": "positions"}),
    ("padding-counted", {"weigh_by": "positions", "mean_over": "positions"}),
    ("ignore-index-fixed", {"weigh_by": "positions", "mean_over": PADDING_TOO}),
    ("ignore-index-fixed", {"mean_over": PADDING_TOO}),
)
"""What a loop may count instead of tokens: by slug, the problem on which it would be right."""


def parameters_message(trial: LoopTrial, seen: Observation) -> str:
    """What is wrong with the parameters after each epoch; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    due = observe_tokens(TOKEN_LOOPS["right"], trial).tensors["parameters"]
    found, start = seen.tensors["parameters"].to(due), flat_parameters(trial.problem.build_model()).cpu()
    if found.shape != due.shape:
        return "Your function changed the shape of a parameter."
    if found.isnan().any():
        return "Parameters have become NaN."
    if not close(found - start, due - start, trial.problem.dtype):
        return "The parameters after training are not those of the mean over each window's tokens."
    return ""


def movements_message(trial: LoopTrial, seen: Observation) -> str:
    """What is wrong with the single updates of a frozen run; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    due = observe_tokens(TOKEN_LOOPS["right"], trial).tensors["movements"]
    if not close(seen.tensors["movements"].to(due), due, trial.problem.dtype):
        return "The updates are not those of the mean over each window's tokens."
    return ""


def losses_message(trial: LoopTrial, seen: Observation) -> str:
    """What is wrong with the returned losses; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if any(row is None for row in seen.facts["losses"]):
        return "Return a list with one number for each window."
    due = window_losses(trial.problem)
    if [len(row) for row in seen.facts["losses"]] != [len(row) for row in due]:
        return "Your list does not have one loss for each window."
    fine = same_numbers(seen.facts["losses"], due)
    return "" if fine else "The numbers returned are not the mean losses of the windows over their tokens."


def is_nan_somewhere(seen: Observation) -> bool:
    """Whether parameters or returned losses of a run are not numbers."""
    losses = [loss for row in seen.facts.get("losses", []) for loss in row or []]
    parameters = seen.tensors.get("parameters")
    return any(map(math.isnan, losses)) or (parameters is not None and bool(parameters.isnan().any()))


def skips_empty(trial: LoopTrial, seen: Observation) -> bool:
    """Whether a loop did what one does that leaves out micro-batches without tokens before it counts N of them."""
    other = observe_tokens(TOKEN_LOOPS["empty-skipped"], trial).tensors["parameters"]
    start, found = flat_parameters(trial.problem.build_model()).cpu(), seen.tensors.get("parameters")
    return found is not None and close(found.to(other) - start, other - start, trial.problem.dtype)


def ignores_only_usual(trial: LoopTrial, seen: Observation, counts_padding: bool) -> bool:
    """Whether a frozen loop ignores what is usual and not what it was told: in its losses, in its count of tokens, or both.

    Args:
        trial: with another ignore index than the usual one.
        seen: what the loop did.
        counts_padding: whether it counts padding with the usual ignore index, too.
    """
    named = "ignore-index-fixed" in diagnose_tokens(trial, seen).slugs
    if named or counts_padding:
        return named
    too_many = _per_window(trial.problem.with_(weigh_by="positions")) / _per_window(trial.problem)
    only_in_count = _movements("right", trial) / too_many
    only_in_losses = _movements("ignore-index-fixed", trial) * too_many
    return any(_moves_like(seen, other, trial) for other in (only_in_count, only_in_losses))


def loss_slugs(trial: LoopTrial, seen: Observation) -> tuple[str, ...]:
    """What a loop reported instead of each window's mean over tokens."""
    returned = seen.facts["losses"]
    if any(row is None for row in returned):
        return ()
    if slugs := loss_mistakes(trial.problem, returned):
        return slugs
    for slug, problem in _other_problems(trial.problem):
        if same_numbers(returned, window_losses(problem)):
            return (slug,)
    return ()


def diagnose_tokens(trial: LoopTrial, seen: Observation) -> Diagnosis:
    """What a loop computes instead: what it counts, and what else is wrong; of several readings the simplest."""
    plain = diagnose(trial, seen)
    if seen.failure or (len(plain.slugs) <= 1 and not plain.remark):
        return plain
    readings = [plain]
    for slug, problem in _other_problems(trial.problem):
        other = diagnose(replace(trial, problem=problem), seen)
        readings.append(replace(plain, slugs=(slug, *other.slugs), remark=other.remark))
    if explained := [reading for reading in readings if not reading.remark]:
        return min(explained, key=lambda reading: len(reading.slugs))
    alike = next((slug for slug, other in _examples(trial) if _moves_like(seen, other, trial)), None)
    return replace(plain, slugs=(alike,), remark="") if alike else plain


def _examples(trial: LoopTrial) -> Iterator[tuple[str, Tensor]]:
    """Movements ``(U, P)`` of loops that are known by example; their slugs."""
    own = _per_window(trial.problem)
    yield "tokens-never-reset", _movements("right", trial) * own / _per_window(trial.problem, so_far=True)
    shifted = _movements("targets-shifted", trial)
    fewer = tuple(tuple(tuple(max(0, n - 1) for n in batch) for batch in epoch) for epoch in trial.problem.lengths)
    yield from (("targets-shifted", shifted * share) for share in (1, _per_window(trial.problem.with_(lengths=fewer)) / own))


def _movements(slug: str, trial: LoopTrial) -> Tensor:
    return observe_tokens(TOKEN_LOOPS[slug], trial).tensors["movements"]


def _moves_like(seen: Observation, other: Tensor, trial: LoopTrial) -> bool:
    found = seen.tensors["movements"]
    return found.shape == other.shape and close(found.to(other), other, trial.problem.dtype)


def _per_window(problem: TokenProblem, so_far: bool = False) -> Tensor:
    """What each window holds of what the problem weighs by ``(U, 1)``, or it and those before it in its epoch."""
    counts = [torch.tensor([sum(w) for w in windows(epoch, problem.accumulation_steps)]) for epoch in problem.epochs]
    return torch.cat([count.cumsum(0) if so_far else count for count in counts])[:, None]


def _other_problems(problem: TokenProblem) -> list[tuple[str, TokenProblem]]:
    padding_is_a_token = problem.ignore_index >= 0
    others = OTHER_COUNTS if padding_is_a_token else [other for other in OTHER_COUNTS if PADDING_TOO not in other[1].values()]
    return [(slug, problem.with_(**changes)) for slug, changes in others]
