"""What is wrong with a loop on several ranks: the mistakes of any loop, and those of sharing gradients between ranks."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.diagnosing.loops import difference_in_words
from autograder.exercises.unit_10_distributed.judging.all_ranks import (
    RankSeen,
    all_ranks,
    by_rank,
    due_parameters,
    expected_fingerprint,
    rank_fingerprint,
)
from autograder.exercises.unit_10_distributed.observing import RanksTrial
from autograder.judging.comparing import close
from autograder.judging.loops import holds_several_graphs, is_cut_finely, large_batch_gradients
from gradaccum.diagnosis.loops import Passes, name_mistakes
from gradaccum.fingerprint import Fingerprint, expected, solve

SHARED = 1e-4
"""Largest difference between coefficients that are the same; those of different loops differ by more than 1e-2."""

DRIFT = 1e-9
"""Relative difference up to which ranks are alike: who adds up in an order of his own leaves 1e-15, a rank that has missed one
all-reduce more than 1e-2."""

SLACK = 1.5
"""How many times the bytes that are due may be carried: a loop may also share losses and counts. A needless all-reduce of
gradients per window doubles them."""


NOT_LARGE_BATCHES = "The parameters are not those of one large batch per window that holds the samples of all ranks."


def movement_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """Whether every rank's parameters are those of the global large batch after every epoch; in words if not."""
    start, due = due_parameters(trial)
    if all(close(rank.parameters - start, due - start, "float64") for rank in ranks):
        return ""
    return NOT_LARGE_BATCHES


SEVERAL_GRAPHS = "The graphs of several micro-batches are in memory at once."
JOINED = "Samples of several micro-batches go through the model together."
WHOLE_WINDOW = "All samples of a window go through the model together."


def graphs_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """Whether a metered loop went through the model one micro-batch at a time.

    The bytes are what the ranks say; which samples went through the model together is seen from numbers, for the model is
    coupled.
    """
    if any(holds_several_graphs(trial.loop, Observation(facts=rank.facts)) for rank in ranks):
        return SEVERAL_GRAPHS
    problem, (start, _) = trial.loop.problem, due_parameters(trial)
    gradient = (start - ranks[0].parameters[0]) / problem.lr
    each = [large_batch_gradients(problem.with_(rank=rank))[0] for rank in range(trial.world_size)]
    if close(gradient, torch.stack(each).mean(0), problem.dtype):
        return WHOLE_WINDOW
    return "" if is_cut_finely(all_ranks(trial), gradient) else JOINED


def drift_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """Whether all ranks have the same parameters, and have moved."""
    start, _ = due_parameters(trial)
    moved = ranks[0].parameters - start
    if not torch.isfinite(moved.norm()) or not moved[-1].any():
        return "The parameters of the ranks do not move, or are no longer numbers."
    apart = max(float((rank.parameters - ranks[0].parameters).norm()) for rank in ranks)
    return "" if apart <= DRIFT * float(moved.norm()) else "The ranks do not have the same parameters after training."


def rounds_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    """Whether every rank takes part in one all-reduce of its gradients per window, counted in bytes."""
    windows = len(expected(trial.loop.problem).coefficients)
    due, carried = gradient_bytes(trial) * windows, [rank.facts["bytes"] for rank in ranks]
    if any(len(rank.facts["update_epochs"]) != windows for rank in ranks):
        return f"The ranks did not make the {windows} updates that were due."
    if max(carried) > SLACK * due:
        return (
            f"In {windows} windows each rank took part in {max(rank.facts['rounds'] for rank in ranks)} all-reduces of "
            f"{max(carried):,} bytes together; {due:,} bytes do."
        )
    if min(carried) < due:
        return f"All-reduces of the gradients of {windows} windows carry {due:,} bytes; yours carried {min(carried):,}."
    return ""


def gradient_bytes(trial: RanksTrial) -> int:
    """Bytes of the gradient of all parameters."""
    return sum(p.numel() * p.element_size() for p in trial.loop.problem.build_model().parameters())


def needless_rounds(trial: RanksTrial, ranks: list[RankSeen]) -> tuple[str, ...]:
    """The mistake of a loop that shares its gradients more than once per window, and per update if it makes more of these."""
    facts, windows = ranks[0].facts, len(expected(trial.loop.problem).coefficients)
    if facts["bytes"] <= SLACK * gradient_bytes(trial) * max(windows, len(facts["update_epochs"])):
        return ()
    if facts["late_no_sync"]:
        return ("sync-around-backward-only",)
    micro_batches = sum(map(len, trial.loop.problem.epochs))
    return ("sync-every",) if facts["bytes"] >= gradient_bytes(trial) * micro_batches else ("sync-again",)


def name_rank_mistakes(trial: RanksTrial, ranks: list[RankSeen]) -> tuple[tuple[str, ...], str, Fingerprint, Fingerprint]:
    """The mistakes that the updates of frozen parameters show, a remark if they have no name, the fingerprint due and found.

    Summed over the ranks, a rank's fingerprint is that of a loop on one rank, up to a factor where ranks are added up or
    divided by twice. How it is spread over the ranks tells what was shared.
    """
    due = expected_fingerprint(trial)
    found = [rank_fingerprint(trial, rank) for rank in ranks]
    odd = next((k for k, one in enumerate(found) if not one.same_as(due)), 0)
    seen, mine = ranks[odd], found[odd]
    if not mine.linear:
        return _not_linear(trial, seen), difference_in_words(mine, due), due, mine
    if len({len(rank.facts["update_epochs"]) for rank in ranks}) > 1:
        return ("ranks-update-apart",), "", due, mine
    parts = by_rank(trial, mine)
    if all(bool(((one.coefficients - mine.coefficients).abs() <= SHARED).all()) for one in found):
        sharing = _shared_out(parts)
    else:
        sharing = _sharing(parts, expected(trial.loop.problem))
    explained = _as_single_rank(trial, seen, mine, parts.sum(0))
    if explained is None:
        return sharing, "" if sharing else difference_in_words(mine, due), due, mine
    return tuple(dict.fromkeys((*sharing, *explained))), "", due, mine


def _as_single_rank(trial: RanksTrial, seen: RankSeen, found: Fingerprint, summed: Tensor) -> tuple[str, ...] | None:
    """The mistakes that explain the sums over ranks with the fewest names."""
    problem, facts = trial.loop.problem, seen.facts
    micro_batches = sum(map(len, problem.epochs))
    passes = Passes(
        all_seen=facts["micro_batches_seen"] == micro_batches,
        repeated=(facts["backwards"] or facts["forwards_with_grad"]) > micro_batches,
    )
    single = replace(found, columns=expected(problem).columns)
    factors = {(): 1.0, ("rank-sum",): trial.world_size, ("rank-divided-twice",): 1 / trial.world_size}
    explained = []
    for slugs, factor in factors.items():
        stale = None if found.stale is None else found.stale / factor
        more = name_mistakes(replace(single, coefficients=summed / factor, stale=stale), problem, passes)
        if more is not None:
            explained.append(slugs + more)
    return min(explained, key=len, default=None)


def _shared_out(parts: Tensor) -> tuple[str, ...]:
    """What the coefficients ``(W, U, K)`` say about what each rank reads, if they are the same on all ranks."""
    read = (parts.abs() > SHARED).any(1)
    if not read.any(1).all() and read.any():
        return ("one-rank-for-all",)
    left = ~read & read.any(0)  # by this rank, but not by another
    return ("shared-out-again",) if bool(left.any(1).all()) else ()


def _sharing(parts: Tensor, due: Fingerprint) -> tuple[str, ...]:
    """What the coefficients ``(W, U, K)`` of a rank's updates say about sharing, if ranks differ."""
    alike = ((parts - parts[0]).abs() <= SHARED).all(0)
    present = parts.abs().amax(0) > SHARED
    alone = present & ~alike
    if not alone.any():
        return ()
    if not (present & alike).any():
        return ("never-sync",)
    # A leftover window is a row, or the last of several, in which fewer micro-batches are due than in the widest.
    widths = (due.coefficients > 0).sum(1)
    leftover = torch.zeros_like(present[0])
    for row, width in zip(due.coefficients, widths, strict=True):
        if width < widths.max():
            leftover |= row > 0
    if bool((alone.any(0) <= leftover).all()):
        return ("tail-not-synced",)
    mixed = alone.any(1) & (present & alike).any(1)
    return ("sync-wrong-one",) if mixed.any() else ("windows-not-synced",)


def _not_linear(trial: RanksTrial, seen: RankSeen) -> tuple[str, ...]:
    """Evaluation mode is the one known reason."""
    movements = seen.movements / trial.loop.problem.lr
    other = solve(seen.gradients, movements, seen.facts["update_epochs"], all_ranks(trial), training=False)
    return ("eval-mode",) if other.linear else ()
