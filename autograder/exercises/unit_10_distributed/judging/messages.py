"""What is wrong with a loop on several ranks, in words for students; every function returns an empty string if nothing is."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from autograder.contract.observation import Failure, Observation
from autograder.exercises.unit_10_distributed.judging.references import (
    RankSeen,
    all_ranks,
    due_parameters,
    gradient_bytes,
    window_gradients,
    windows_due,
)
from autograder.exercises.unit_10_distributed.observing import RanksTrial
from autograder.judging.large_batches import SEVERAL_GRAPHS, holds_several_graphs, is_cut_finely
from autograder.judging.left_behind import DATA, kept_message
from autograder.judging.tolerances import close
from gradaccum.fingerprint_words import listing

MAX_DRIFT = 1e-9
"""Relative difference up to which ranks count as identical: adding up in another order leaves 1e-15, a missed all-reduce more
than 1e-2."""


WHOLE_WINDOW = "All samples of a window go through the model together."


CUT_OTHERWISE = "In a window of many micro-batches the gradient is not that of forwards with one micro-batch each."


def bytes_carried(trial: RanksTrial, seen: RankSeen) -> int:
    """The bytes of gradients, and of anything else, that a rank gave to others.

    Parameters may be sent once in a call, as wrapping a model does.
    """
    return seen.facts["bytes"] + max(0, seen.facts["sent_again"] - len(trial.loop.problem.epochs) * gradient_bytes(trial))


def shares_too_much(trial: RanksTrial, seen: RankSeen, rounds: int) -> bool:
    """Whether a rank gave away enough for one more round of gradients than there should be; losses and counts are far less."""
    return bytes_carried(trial, seen) >= (rounds + 1) * gradient_bytes(trial)


def shares_too_little(trial: RanksTrial, ranks: list[RankSeen]) -> bool:
    """Whether a rank gave away less than the gradients, or the parameters, of one round per window."""
    given = min(rank.facts["bytes"] + rank.facts["sent_again"] for rank in ranks)
    return given < windows_due(trial) * gradient_bytes(trial)


def movement_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """Check that after every epoch the parameters of every rank are those of the global large batch."""
    start, due = due_parameters(trial)
    if all(close(rank.parameters - start, due - start, "float64") for rank in ranks):
        return ""
    return "The parameters are not those of one large batch per window that holds the samples of all ranks."


def data_or_movement_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """The same, where data that the loop has changed would explain it."""
    said = movement_message(trial, ranks)
    return said and (data_message(ranks) or said)


def data_message(ranks: list[RankSeen]) -> str:
    """That a rank changed its micro-batches; empty if none did."""
    return next(filter(None, (kept_message(Observation(facts=rank.facts), DATA) for rank in ranks)), "")


def waiting(failure: Failure) -> Failure:
    """A failure, with the reason that only several ranks have for running too long."""
    if failure.kind != "time":
        return failure
    return replace(failure, message=f"{failure.message} Or does a rank wait for a call that another one never makes?")


def mode_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """Check that every rank left its model, with all modules, in training mode, shares gradients, and left its data alone."""
    if not all(rank.facts["training_after"] and "modes" not in rank.facts["changed"] for rank in ranks):
        return "Your function left the model, or a part of it, in evaluation mode."
    if not all(rank.facts["shares_after"] for rank in ranks):
        return "Your function left sharing switched off (require_backward_grad_sync)."
    return data_message(ranks)


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
    return "" if is_cut_finely(all_ranks(trial), gradient) else CUT_OTHERWISE


def drift_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """Check that all ranks have the same parameters, and that these have moved."""
    start, _ = due_parameters(trial)
    moved = ranks[0].parameters - start
    if not torch.isfinite(moved.norm()) or not moved[-1].any():
        return "The parameters do not move on all ranks, or are no longer numbers."
    apart = torch.stack([rank.parameters - ranks[0].parameters for rank in ranks])
    if float(apart.norm(dim=(1, 2)).max()) <= MAX_DRIFT * float(moved.norm()):
        return ""
    return "The ranks do not have the same parameters after training." + _drifting_in_words(trial, apart)


def _drifting_in_words(trial: RanksTrial, apart: Tensor) -> str:
    """Which parameters of the model are the same on all ranks and which are not, as a sentence to append; empty if none are."""
    named = [(name, p.numel()) for name, p in trial.loop.problem.build_model().named_parameters()]
    parts = zip(named, apart.split([size for _, size in named], -1), strict=True)
    kinds: dict[bool, list[str]] = {True: [], False: []}
    for (name, _), part in parts:
        kinds[bool(part.any())].append(name)
    if not all(kinds.values()):
        return ""
    return f" Some parameters of our model are ({listing(kinds[False])}), others are not ({listing(kinds[True])})."


def rounds_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """Check by the bytes carried that every rank takes part in one all-reduce of its gradients per window."""
    windows = windows_due(trial)
    due, carried = gradient_bytes(trial) * windows, [bytes_carried(trial, rank) for rank in ranks]
    made = [int((rank.gradients.any(1) | rank.movements.any(1)).sum()) for rank in ranks]  # without gradients it is none
    if made != [windows] * len(ranks):
        each = str(made[0]) if len({*made}) == 1 else f"{listing(made)} by rank"
        return f"The optimizer of each rank had {windows} updates to make; yours made {each}."
    if any(shares_too_much(trial, rank, windows) for rank in ranks):
        if max(rank.facts["bytes"] for rank in ranks) < max(carried):
            again = max(rank.facts["sent_again"] for rank in ranks)
            told = f"In {windows} windows each rank took part in broadcasts of {again:,} bytes in all"
            return f"{told}; {due:,} bytes in all-reduces are enough."
        return (
            f"In {windows} windows a rank took part in {max(rank.facts['rounds'] for rank in ranks)} exchanges of "
            f"{max(carried):,} bytes together; {due:,} bytes are enough."
        )
    if (least := min(rank.facts["bytes"] for rank in ranks)) < due:
        return f"All-reduces of the gradients of {windows} windows carry {due:,} bytes; yours carried {least:,}."
    return ""
