"""What is wrong with a loop on several ranks, in words for students; every function returns an empty string if nothing is."""

from __future__ import annotations

import torch

from autograder.contract.observation import Observation
from autograder.exercises.unit_10_distributed.judging.references import (
    RankSeen,
    all_ranks,
    due_parameters,
    gradient_bytes,
    window_gradients,
    windows_due,
)
from autograder.exercises.unit_10_distributed.observing import RanksTrial
from autograder.judging.large_batches import JOINED, SEVERAL_GRAPHS, holds_several_graphs, is_cut_finely
from autograder.judging.left_behind import DATA, kept_message
from autograder.judging.tolerances import close

MAX_DRIFT = 1e-9
"""Relative difference up to which ranks count as identical: adding up in another order leaves 1e-15, a missed all-reduce more
than 1e-2."""

MAX_TRAFFIC = 1.5
"""How many times the bytes that are due may be carried: a loop may also share losses and counts. A needless all-reduce of
gradients per window doubles them."""

WHOLE_WINDOW = "All samples of a window go through the model together."


def movement_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """Check that after every epoch the parameters of every rank are those of the global large batch."""
    start, due = due_parameters(trial)
    if all(close(rank.parameters - start, due - start, "float64") for rank in ranks):
        return ""
    return "The parameters are not those of one large batch per window that holds the samples of all ranks."


def mode_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """Check that every rank left its model, with all modules, in training mode, shares gradients, and left its data alone."""
    if not all(rank.facts["training_after"] and "modes" not in rank.facts["changed"] for rank in ranks):
        return "Your function left the model, or a part of it, in evaluation mode."
    if not all(rank.facts["shares_after"] for rank in ranks):
        return "Your function left sharing switched off (require_backward_grad_sync)."
    return next(filter(None, (kept_message(Observation(facts=rank.facts), DATA) for rank in ranks)), "")


def graphs_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """Check that a metered loop went through the model one micro-batch at a time.

    The bytes are what the ranks say. Which samples went through the model together is read off the parameters, because the
    model is coupled.
    """
    if any(holds_several_graphs(trial.loop, Observation(facts=rank.facts)) for rank in ranks):
        return SEVERAL_GRAPHS
    problem, (start, _) = trial.loop.problem, due_parameters(trial)
    gradient = (start - ranks[0].parameters[0]) / problem.lr
    if close(gradient, window_gradients(trial)[1].mean(0), problem.dtype):
        return WHOLE_WINDOW
    return "" if is_cut_finely(all_ranks(trial), gradient) else JOINED


def drift_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """Check that all ranks have the same parameters, and that these have moved."""
    start, _ = due_parameters(trial)
    moved = ranks[0].parameters - start
    if not torch.isfinite(moved.norm()) or not moved[-1].any():
        return "The parameters of the ranks do not move, or are no longer numbers."
    drift = max(float((rank.parameters - ranks[0].parameters).norm()) for rank in ranks)
    return "" if drift <= MAX_DRIFT * float(moved.norm()) else "The ranks do not have the same parameters after training."


def rounds_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """Check by the bytes carried that every rank takes part in one all-reduce of its gradients per window."""
    windows = windows_due(trial)
    due, carried = gradient_bytes(trial) * windows, [rank.facts["bytes"] for rank in ranks]
    if any(len(rank.facts["update_epochs"]) != windows for rank in ranks):
        return f"The optimizers of the ranks did not make the {windows} updates that were due."
    if max(carried) > MAX_TRAFFIC * due:
        return (
            f"In {windows} windows each rank took part in {max(rank.facts['rounds'] for rank in ranks)} all-reduces of "
            f"{max(carried):,} bytes together; {due:,} bytes do."
        )
    if min(carried) < due:
        return f"All-reduces of the gradients of {windows} windows carry {due:,} bytes; yours carried {min(carried):,}."
    return ""
