"""Running a student's loop on several ranks, and comparing what each rank did with training on the data of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import torch
import torch.distributed as dist
from torch import Tensor, nn

from autograder.exercise import Failure, Observation
from autograder.loop_trials import LoopTrial, large_batch_parameters, observe_loop
from autograder.student_code import failure_of, guarded
from gradaccum.collectives import Collectives
from gradaccum.fingerprint import Fingerprint, expected, solve
from gradaccum.problems import MicroBatch, Problem
from gradaccum.ranks import RanksError, on_ranks

WORK, WAIT = 6.0, 12.0
"""Limits of a trial in seconds: of one rank, as :func:`autograder.student_code.stopwatch` counts, and of all ranks together, by
the clock, for they may wait for each other. Right solutions need a tenth of a second, on a very busy machine several."""


DEVICE = "cpu"
"""Of ranks, whatever device is marked on: they are forks, see :func:`gradaccum.ranks.on_ranks`."""


@dataclass(frozen=True)
class RanksTrial:
    """What rank 0 is given and how it is watched; the other ranks are given their own samples."""

    loop: LoopTrial
    world_size: int = 2


def run_ranks(world_size: int, work: Callable[[int], Observation], seed: int) -> list[Observation]:
    """What each rank brings back; of a rank that fails, or does not end, only why."""

    def guarded_work(rank: int) -> dict:
        seen = guarded(lambda: work(rank), seed, WORK)
        if seen.failure:
            raise _FailedError(seen)
        return {"tensors": {name: tensor.tolist() for name, tensor in seen.tensors.items()}, "facts": seen.facts}

    if dist.is_initialized():
        dist.destroy_process_group()  # one that the student has opened
    try:
        answers = on_ranks(world_size, guarded_work, seconds=WAIT, describe=_described)
    except RanksError as failed:
        return [_why(failed)]
    return [Observation({n: _tensor(t) for n, t in answer["tensors"].items()}, answer["facts"]) for answer in answers]


class _FailedError(Exception):
    """An observation with a failure, on its way out of a rank."""

    def __init__(self, seen: Observation):
        super().__init__(seen.failure.message)
        self.seen = seen


def _described(error: BaseException) -> dict:
    seen = error.seen if isinstance(error, _FailedError) else Observation(failure=failure_of(error))
    return {"failure": [seen.failure.kind, seen.failure.message], "facts": seen.facts}


def _why(failed: RanksError) -> Observation:
    if failed.kind == "raised":
        return Observation(facts=failed.said["facts"], failure=Failure(*failed.said["failure"]))
    message = {
        "died": f"Your code ended the process of rank {failed.rank}, or torch.distributed did. Do all ranks make the same "
        "calls of torch.distributed, in the same order, with tensors of the same size?",
        "gpu": "This process has used a GPU, and ranks cannot be forked from it. Restart it with CUDA_VISIBLE_DEVICES set to "
        "nothing, as the first cell of the notebook does.",
        "large": "Your function brought back far more than was asked for.",
        "time": f"The ranks were still running after {WAIT:g} seconds. Does each of them make the same calls of "
        "torch.distributed, in the same order? If not, they wait for each other. Or does a loop never end, because what it "
        "reads begins anew each time?",
    }[failed.kind]
    return Observation(failure=Failure(failed.kind if failed.kind in ("died", "time") else "raised", message))


def _tensor(values: list) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def observe_ranks(function: Callable, trial: RanksTrial) -> Observation:
    """Run a loop on all ranks.

    Tensors are those of :func:`observe_loop`, with the rank behind their names; the facts of each rank are in a list.
    """
    seen = run_ranks(trial.world_size, lambda rank: _observe_rank(function, trial, rank), trial.loop.problem.seed)
    if seen[0].failure:
        return seen[0]
    tensors = {f"{name}{rank}": tensor for rank, one in enumerate(seen) for name, tensor in one.tensors.items()}
    return Observation(tensors, {"ranks": [one.facts for one in seen]})


def _observe_rank(function: Callable, trial: RanksTrial, rank: int) -> Observation:
    """What :func:`observe_loop` brings back from this rank, and what it asked ``torch.distributed`` to carry."""
    problem = replace(trial.loop.problem, rank=rank)
    wrapped: list[nn.parallel.DistributedDataParallel] = []
    carried, flags = Collectives(), []

    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        if not wrapped:
            wrapped.append(nn.parallel.DistributedDataParallel(model))
            model.register_forward_hook(lambda module, x, out: _note_flags(wrapped[0], out, flags))
        with carried:
            function(wrapped[0], loss_fn, optimizer, micro_batches, accumulation_steps)

    seen = observe_loop(loop, replace(trial.loop, problem=problem))
    shared = [call.bytes for call in carried.calls if call.kind != "broadcast"]  # DistributedDataParallel's own housekeeping
    facts = {"rounds": len(shared), "bytes": sum(shared)}
    late = sum(forward and not backward for forward, backward in flags)
    return replace(seen, facts=seen.facts | facts | {"late_no_sync": late})


def _note_flags(wrapped: nn.Module, output: object, flags: list[list[bool]]) -> None:
    """For a forward and for its backward, whether DistributedDataParallel was then told to synchronise."""
    entry = [wrapped.require_backward_grad_sync, True]
    flags.append(entry)
    if isinstance(output, Tensor) and output.requires_grad:

        def in_backward(gradient: Tensor) -> None:
            entry[1] = wrapped.require_backward_grad_sync

        output.register_hook(in_backward)


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
