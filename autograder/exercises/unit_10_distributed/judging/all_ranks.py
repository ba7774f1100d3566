"""Running a student's loop on several ranks, and comparing what each rank did with training on the data of all of them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_10_distributed.observing import RanksTrial
from autograder.judging.loops import large_batch_parameters
from gradaccum.fingerprint import Fingerprint, expected, solve
from gradaccum.problems import MicroBatch, Problem


@dataclass(frozen=True)
class RankSeen:
    """What one rank did, checked: ``gradients`` and ``movements`` (U, P), ``parameters`` (E, P), and counts."""

    gradients: Tensor
    movements: Tensor
    parameters: Tensor
    facts: dict


COUNTS = ("rounds", "bytes", "late_no_sync", "backwards", "forwards_with_grad", "micro_batches_seen")
COUNTS += ("forwards_without_grad", "forwards_in_graph", "peak_bytes")


def ranks_seen(trial: RanksTrial, seen: Observation) -> list[RankSeen]:
    """Every rank of an observation; it may come from a process that makes up what it likes.

    Raises:
        ValueError: it is not of the form that :func:`observe_ranks` gives it.
    """
    problem, facts = trial.loop.problem, seen.facts.get("ranks")
    if not isinstance(facts, list) or len(facts) != trial.world_size or not all(isinstance(one, dict) for one in facts):
        raise ValueError("not one entry for each rank")
    size, ranks = sum(p.numel() for p in problem.build_model().parameters()), []
    for rank, one in enumerate(facts):
        epochs = one.get("update_epochs")
        if not isinstance(epochs, list) or not all(type(e) is int and 0 <= e < len(problem.epochs) for e in epochs):
            raise ValueError("not the epochs of updates")
        if not all(type(one.get(name)) is int for name in COUNTS) or type(one.get("training_after")) is not bool:
            raise ValueError("not counts")
        rows = {"gradients": len(epochs), "movements": len(epochs), "parameters": len(problem.epochs)}
        tensors = {name: seen.tensors.get(f"{name}{rank}") for name in rows}
        for name, tensor in tensors.items():
            tensors[name] = tensor = tensor if rows[name] else torch.zeros(0, size, dtype=torch.float64)
            if not isinstance(tensor, Tensor) or tensor.dtype != torch.float64 or tensor.shape != (rows[name], size):
                raise ValueError(f"not the {name} of a rank")
        ranks.append(RankSeen(**tensors, facts=one))
    return ranks


@dataclass(frozen=True)
class AllRanks(Problem):
    """The samples of all ranks in one place.

    An epoch's micro-batches are those of rank 0, then those of rank 1 and so on; or, ``merged``, what all ranks go through at
    the same time as one micro-batch.
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
        return [tuple(torch.cat(parts) for parts in zip(*several, strict=True)) for several in zip(*ranks, strict=True)]


def all_ranks(trial: RanksTrial, merged: bool = False) -> AllRanks:
    """The samples of all ranks of a trial."""
    problem = trial.loop.problem
    options = {f.name: getattr(problem, f.name) for f in fields(Problem)}
    if not merged:
        options["epochs"] = tuple(sizes * trial.world_size for sizes in problem.epochs)
    return AllRanks(**options, world_size=trial.world_size, merged=merged)


def due_parameters(trial: RanksTrial) -> tuple[Tensor, Tensor]:
    """Parameters before training and after each epoch, one large batch per window made of the windows of all ranks."""
    return large_batch_parameters(all_ranks(trial, merged=True))


def rank_fingerprint(trial: RanksTrial, seen: RankSeen) -> Fingerprint:
    """The fingerprint of one rank's updates over the micro-batches of all ranks: in each epoch first those of rank 0."""
    movements = seen.movements / trial.loop.problem.lr
    return solve(seen.gradients, movements, seen.facts["update_epochs"], all_ranks(trial))


def expected_fingerprint(trial: RanksTrial) -> Fingerprint:
    """The one it should be: the right one of a single rank, shared equally."""
    single, world, start = expected(trial.loop.problem), trial.world_size, 0
    columns: list[int] = []
    for sizes in trial.loop.problem.epochs:
        columns += [*range(start, start + len(sizes))] * world
        start += len(sizes)
    sizes = tuple(single.columns[k] for k in columns)
    return replace(single, coefficients=single.coefficients[:, columns] / world, columns=sizes)


def by_rank(trial: RanksTrial, found: Fingerprint) -> Tensor:
    """The coefficients ``(W, U, K)`` of a rank's fingerprint, those of each rank's micro-batches apart."""
    parts, start = [], 0
    for sizes in trial.loop.problem.epochs:
        width = len(sizes) * trial.world_size
        parts.append(found.coefficients[:, start : start + width].unflatten(1, (trial.world_size, len(sizes))))
        start += width
    return torch.cat(parts, 2).movedim(1, 0)
