"""Names for what a loop on several ranks does instead: the mistakes of any loop, and those of sharing gradients."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.diagnosing.loop_diagnosis import by_row, difference_in_words
from autograder.exercises.unit_10_distributed.judging.messages import shares_too_much
from autograder.exercises.unit_10_distributed.judging.references import (
    RankSeen,
    all_ranks,
    by_rank,
    due_parameters,
    expected_fingerprint,
    gradient_bytes,
    rank_fingerprint,
    window_gradients,
    windows_due,
)
from autograder.exercises.unit_10_distributed.observing import RanksTrial
from gradaccum.diagnosis.naming import Passes, name_mistakes
from gradaccum.fingerprint import LINEAR, Fingerprint, expected, solve

TOLERANCE = 1e-4
"""Largest difference between coefficients that are the same; those of different loops differ by more than 1e-2."""


def needless_rounds(trial: RanksTrial, ranks: list[RankSeen]) -> tuple[str, ...]:
    """The mistake of a loop that shares its gradients more than once per window (or per update, if it makes more updates)."""
    facts, windows = ranks[0].facts, windows_due(trial)
    if not shares_too_much(trial, ranks[0], max(windows, len(facts["update_epochs"]))):
        return ()
    if facts["late_no_sync"]:
        return ("sync-around-backward-only",)
    micro_batches = sum(map(len, trial.loop.problem.epochs))
    return ("sync-every",) if facts["reduced"] >= gradient_bytes(trial) * micro_batches else ("sync-again",)


def name_rank_mistakes(
    trial: RanksTrial, ranks: list[RankSeen]
) -> tuple[tuple[str, ...], str, Fingerprint, Fingerprint | None]:
    """The mistakes that updates with frozen parameters show, a remark if they have no name, and the fingerprints due and found.

    Summed over the ranks, a rank's fingerprint is that of a loop on one rank, up to a factor where ranks are added up or
    divided by twice. How it is spread over the ranks shows what was shared.
    """
    due = expected_fingerprint(trial)
    found = [rank_fingerprint(trial, rank) for rank in ranks]
    odd = next((k for k, one in enumerate(found) if not one.same_as(due)), 0)
    seen, mine = ranks[odd], found[odd]
    if not mine.linear:
        return _not_linear(trial, seen), difference_in_words(mine, due), due, None
    if len({len(rank.facts["update_epochs"]) for rank in ranks}) > 1:
        return ("ranks-update-apart",), "", due, mine
    parts, where = by_rank(trial, mine), f"On rank {odd}: "
    if all(bool(((one.coefficients - mine.coefficients).abs() <= TOLERANCE).all()) for one in found):
        sharing, where = _shared_out(parts), ""
    else:
        known = _sharing(parts, odd, expected(trial.loop.problem))
        if known is None:  # what the ranks' parts add up to then says nothing about what they are divided by
            words = difference_in_words(mine, due)
            return (), words and where + words, due, mine
        sharing = known
    explained = _as_single_rank(trial, seen, mine, parts.sum(0))
    if explained is None:
        words = "" if sharing else difference_in_words(mine, due, seen.gradients.norm(dim=1))
        return sharing, words and where + words, due, mine
    return tuple(dict.fromkeys((*sharing, *explained))), "", due, mine


OFF_BY_ONE = {"off-by-one-late": 1, "off-by-one-early": -1}
"""How many micro-batches a window has too many with these mistakes."""


def width_in_words(trials: Mapping[str, RanksTrial], ranks: Mapping[str, list[RankSeen]], named: Sequence[str]) -> str:
    """That windows have one width whatever N is, if that and not a miscount makes the updates with N = 1; empty otherwise."""
    off = next((OFF_BY_ONE[slug] for slug in named if slug in OFF_BY_ONE), 0)
    if not off or "single" not in ranks:
        return ""
    width = trials["probe"].loop.problem.accumulation_steps + off
    problem, made = trials["single"].loop.problem, len(ranks["single"][0].facts["update_epochs"])
    if made != sum(math.ceil(len(sizes) / width) for sizes in problem.epochs):
        return ""
    due = sum(map(len, problem.epochs))
    return f"Your windows hold {width} micro-batches, whatever N is: with N = 1 you make {made} updates where {due} are due."


def _as_single_rank(trial: RanksTrial, seen: RankSeen, found: Fingerprint, summed: Tensor) -> tuple[str, ...] | None:
    """The fewest mistakes that explain the sums over ranks; None if nothing does."""
    problem, facts = trial.loop.problem, seen.facts
    micro_batches = sum(map(len, problem.epochs))
    passes = Passes(
        distinct=facts["micro_batches_seen"] == micro_batches,
        repeated=(facts["backwards"] or facts["forwards_with_grad"]) > micro_batches,
    )
    single = replace(found, columns=expected(problem).columns)
    world = trial.world_size
    factors: dict[tuple[str, ...], float] = {(): 1.0}
    if bool(((found.rates - 1).abs() <= TOLERANCE).all()):  # else it is not the gradient that is too long or too short
        factors |= {("rank-sum",): world, ("rank-divided-twice",): 1 / world}
    explained = []
    for slugs, factor in factors.items():
        stale = None if found.stale is None else found.stale / factor
        more = name_mistakes(replace(single, coefficients=summed / factor, stale=stale), problem, passes)
        if more is not None:
            explained.append(slugs + more)
    return min(explained, key=len, default=None)


def _shared_out(parts: Tensor) -> tuple[str, ...]:
    """What the coefficients ``(W, U, K)`` show about what each rank reads, if they are the same on all ranks."""
    read = (parts.abs() > TOLERANCE).any(1)
    if not read.any(1).all() and read.any():
        return ("one-rank-for-all",)
    skipped = ~read & read.any(0)  # by this rank, but not by all
    return ("shared-out-again",) if bool(skipped.any(1).all()) else ()


def _sharing(parts: Tensor, rank: int, due: Fingerprint) -> tuple[str, ...] | None:
    """What the coefficients ``(W, U, K)`` of a rank's updates show about sharing, if ranks differ; None if nothing known."""
    equal = ((parts - parts[0]).abs() <= TOLERANCE).all(0)
    present = parts.abs().amax(0) > TOLERANCE
    alone = present & ~equal
    if not alone.any():
        return ()
    if not (present & equal).any():  # shares of several ranks that are not equal are something else
        others = parts[[k for k in range(len(parts)) if k != rank]]
        return ("never-sync",) if bool((others.abs() <= TOLERANCE).all()) else None
    # A leftover window is one in which fewer micro-batches are due than in the widest.
    widths = (due.coefficients > 0).sum(1)
    leftover = torch.zeros_like(present[0])
    for row, width in zip(due.coefficients, widths, strict=True):
        if width < widths.max():
            leftover |= row > 0
    if bool((alone.any(0) <= leftover).all()):
        return ("tail-not-synced",)
    mixed = alone.any(1) & (present & equal).any(1)
    return ("sync-wrong-one",) if mixed.any() else ("windows-not-synced",)


def ranks_in_updates(trials: Mapping[str, RanksTrial], ranks: Mapping[str, list[RankSeen]]) -> set[int]:
    """The ranks whose samples' gradients all ranks follow, as far as frozen parameters or a single window show."""
    shown: set[int] = set()
    for name, followed in (("probe", _followed_when_frozen), ("memory", _followed_in_a_window)):
        if name in ranks:
            shown |= set.intersection(*(followed(trials[name], rank) for rank in ranks[name]))
    return shown


def _followed_when_frozen(trial: RanksTrial, seen: RankSeen) -> set[int]:
    """The ranks whose micro-batches' gradients are in the updates of one of them; none if something else is in these."""
    movements = seen.movements / trial.loop.problem.lr
    for training in (True, False):
        found = solve(movements, movements, seen.facts["update_epochs"], all_ranks(trial), training=training)
        if found.linear:
            return _present(by_rank(trial, found).flatten(1))
    return set()


def _followed_in_a_window(trial: RanksTrial, seen: RankSeen) -> set[int]:
    """The same for a run of a single window, in which parameters may have been averaged after the update."""
    moved = (due_parameters(trial)[0] - seen.parameters[0])[None] / trial.loop.problem.lr
    if not moved.isfinite().all():
        return set()
    for basis in window_gradients(trial):
        coefficients = torch.linalg.lstsq(basis.T, moved.T).solution
        if (moved.T - basis.T @ coefficients).norm() <= LINEAR * moved.norm():
            return _present(coefficients)
    return set()


def _present(coefficients: Tensor) -> set[int]:
    """The rows ``(W, …)`` that are not zero."""
    return {rank for rank, row in enumerate(coefficients) if bool((row.abs() > TOLERANCE).any())}


def _not_linear(trial: RanksTrial, seen: RankSeen) -> tuple[str, ...]:
    """Why updates are not linear in the micro-batch gradients; evaluation mode, in some or all, is the only known reason."""
    movements = seen.movements / trial.loop.problem.lr
    training, evaluation = (
        solve(seen.gradients, movements, seen.facts["update_epochs"], all_ranks(trial), training=mode) for mode in (True, False)
    )
    return ("eval-mode",) if by_row(training, evaluation).linear else ()


def first_loss_slugs(seen: Observation) -> tuple[str, ...]:
    """Why the first loss of a loop that failed has no graph, if that is what stopped it."""
    if seen.facts.get("without_graph") is not True or seen.facts.get("backwards") != 0:
        return ()
    return ("detached",) if seen.facts.get("last_forward_with_grad") is True else ("grad-disabled",)
