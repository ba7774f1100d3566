"""Running a student's functions on several ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.distributed as dist
from torch import Tensor, nn

from autograder.contract.observation import Failure, Observation
from autograder.observing.calls import plain
from autograder.observing.loops import LoopTrial, observe_loop
from autograder.observing.student_calls import failure_of, guarded
from gradaccum.collectives import Collectives
from gradaccum.ranks import RanksError, on_ranks

WORK, WAIT = 6.0, 12.0
"""Limits of a trial in seconds: of one rank, as :func:`autograder.observing.student_calls.stopwatch` counts, and of all ranks
together, by the clock, since they may wait for each other. Right solutions need a tenth of a second, on a very busy machine
several."""


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
        seen = guarded(lambda: work(rank), WORK, seed)
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
class TokenTrial:
    """Calls one after the other, each with a number of tokens for every rank."""

    seed: int
    calls: tuple[tuple[int, ...], ...]

    @property
    def world_size(self) -> int:
        return len(self.calls[0])


def factor(function: Callable, tokens: int) -> float | str:
    """What the function returns for a rank's number of tokens: a number, or the name of its type if it is none."""
    value = function(torch.tensor(tokens))
    try:
        number = plain(value)
        while isinstance(number, list) and len(number) == 1:
            number = number[0]
        return float(number) if isinstance(number, int | float) else type(value).__name__
    except (TypeError, OverflowError):
        return type(value).__name__


def observe_factors(function: Callable, trial: TokenTrial) -> Observation:
    """Call the function on every rank, once for each of the trial's calls; note the factors and how often ranks talked."""

    def work(rank: int) -> Observation:
        factors, shared = [], []
        for call in trial.calls:
            with Collectives() as seen:
                factors.append(factor(function, call[rank]))
            shared.append(len(seen.calls))
        return Observation(facts={"factors": factors, "shared": shared})

    seen = run_ranks(trial.world_size, work, trial.seed)
    if seen[0].failure:
        return seen[0]
    return Observation(facts={"ranks": [one.facts["factors"] for one in seen], "shared": [one.facts["shared"] for one in seen]})


OBSERVERS = {"ddp_train_epoch": observe_ranks, "global_token_scale": observe_factors}
