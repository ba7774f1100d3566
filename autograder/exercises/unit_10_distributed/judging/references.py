"""Checking what the ranks of a loop report, and what training on the data of all ranks gives instead."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_10_distributed.observing import RanksTrial
from autograder.judging.large_batches import large_batch_gradients, large_batch_parameters
from gradaccum.fingerprint import Fingerprint, batch_gradient, expected, solve
from gradaccum.problems import MicroBatch, Problem, joined

TENSORS = ("gradients", "movements", "parameters")


@dataclass(frozen=True)
class RankSeen:
    """What one rank did: ``gradients`` and ``movements`` ``(U, P)``, ``parameters`` ``(E, P)``, and counts."""

    gradients: Tensor
    movements: Tensor
    parameters: Tensor
    facts: dict[str, Any]


def ranks_seen(trial: RanksTrial, seen: Observation) -> list[RankSeen]:
    """Every rank of an observation."""
    tensors = ({name: seen.tensors[f"{name}{rank}"] for name in TENSORS} for rank in range(trial.world_size))
    return [RankSeen(**found, facts=facts) for found, facts in zip(tensors, seen.facts["ranks"], strict=True)]


@dataclass(frozen=True)
class AllRanks(Problem):
    """The samples of all ranks in one problem.

    An epoch's micro-batches are those of rank 0, then those of rank 1, and so on. If ``merged``, the micro-batches that the
    ranks work on at the same time form one.
    """

    world_size: int = 1
    merged: bool = False

    def batches(self, epoch: int = 0) -> list[MicroBatch]:
        options = {f.name: getattr(self, f.name) for f in fields(Problem)}
        if not self.merged:
            options["epochs"] = tuple(sizes[: len(sizes) // self.world_size] for sizes in self.epochs)
        ranks = [Problem(**options | {"rank": rank}).batches(epoch) for rank in range(self.world_size)]
        if not self.merged:
            return [batch for batches in ranks for batch in batches]
        return [joined(list(several)) for several in zip(*ranks, strict=True)]


def all_ranks(trial: RanksTrial, merged: bool = False) -> AllRanks:
    """The samples of all ranks of a trial as one problem."""
    problem = trial.loop.problem
    options = {f.name: getattr(problem, f.name) for f in fields(Problem)}
    if not merged:
        options["epochs"] = tuple(sizes * trial.world_size for sizes in problem.epochs)
    return AllRanks(**options, world_size=trial.world_size, merged=merged)


@lru_cache(maxsize=64)  # check() asks again and again about the same problems
def due_parameters(trial: RanksTrial) -> tuple[Tensor, Tensor]:
    """Parameters ``(P,)`` before training and ``(E, P)`` after each epoch, with one large batch per window of all ranks."""
    return large_batch_parameters(all_ranks(trial, merged=True))


def rank_fingerprint(trial: RanksTrial, seen: RankSeen) -> Fingerprint:
    """The fingerprint of one rank's updates over the micro-batches of all ranks; in each epoch those of rank 0 come first."""
    movements = seen.movements / trial.loop.problem.lr
    return solve(seen.gradients, movements, seen.facts["update_epochs"], all_ranks(trial))


def expected_fingerprint(trial: RanksTrial) -> Fingerprint:
    """The fingerprint due: the right one of a single rank, shared equally among all ranks."""
    single, start = expected(trial.loop.problem), 0
    columns: list[int] = []
    for sizes in trial.loop.problem.epochs:
        columns += [*range(start, start + len(sizes))] * trial.world_size
        start += len(sizes)
    coefficients = single.coefficients[:, columns] / trial.world_size
    return replace(single, coefficients=coefficients, columns=tuple(single.columns[k] for k in columns))


def by_rank(trial: RanksTrial, found: Fingerprint) -> Tensor:
    """The coefficients ``(W, U, K)`` of a rank's fingerprint, separated by the rank whose micro-batches they weigh."""
    parts, start = [], 0
    for sizes in trial.loop.problem.epochs:
        width = len(sizes) * trial.world_size
        parts.append(found.coefficients[:, start : start + width].unflatten(1, (trial.world_size, len(sizes))))
        start += width
    return torch.cat(parts, 2).movedim(1, 0)


@lru_cache(maxsize=64)
def window_gradients(trial: RanksTrial) -> tuple[Tensor, Tensor]:
    """For each rank ``(W, P)``, its gradient of the first window: of one micro-batch after the other, and of all together."""
    problems = [trial.loop.problem.with_(rank=rank) for rank in range(trial.world_size)]
    model = problems[0].build_model()
    apart = [torch.stack([batch_gradient(model, p.loss_fn, b) for b in p.batches()]).mean(0) for p in problems]
    return torch.stack(apart), torch.stack([large_batch_gradients(problem)[0] for problem in problems])


def windows_due(trial: RanksTrial) -> int:
    """How many updates each rank has to make."""
    return len(expected(trial.loop.problem).coefficients)


@lru_cache(maxsize=64)
def gradient_bytes(trial: RanksTrial) -> int:
    """Bytes of the gradient of all parameters."""
    return sum(p.numel() * p.element_size() for p in trial.loop.problem.build_model().parameters())
