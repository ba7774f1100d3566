"""Running a student's functions on several ranks, in forked processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

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
"""Limits of a trial in seconds: for one rank, as :func:`autograder.observing.student_calls.stopwatch` counts, and for all ranks
together, by the clock, because ranks may wait for each other. Right solutions need a tenth of a second, or several seconds on a
very busy machine."""

DEVICE = "cpu"
"""Where ranks compute, whatever device is marked on: they are forks, see :func:`gradaccum.ranks.on_ranks`."""


@dataclass(frozen=True)
class RanksTrial:
    """What rank 0 is given and how it is watched; the other ranks are given their own samples."""

    loop: LoopTrial
    world_size: int = 2


def run_ranks(world_size: int, work: Callable[[int], Observation], seed: int) -> list[Observation]:
    """What is observed of each rank; a single observation with the failure if a rank fails or does not end."""

    def guarded_work(rank: int) -> dict[str, Any]:
        seen = guarded(lambda: work(rank), WORK, seed)
        if seen.failure:
            raise _FailedError(seen.failure, seen.facts)
        tensors = {name: _as_json(tensor) for name, tensor in seen.tensors.items()}
        return {"tensors": tensors, "facts": seen.facts, "trace": seen.trace}

    if dist.is_initialized():
        dist.destroy_process_group()  # one that the student's code has opened
    try:
        answers = on_ranks(world_size, guarded_work, seconds=WAIT, describe=_described)
    except RanksError as failed:
        return [_failed(failed)]
    return [
        Observation(
            {name: _tensor(*parts) for name, parts in answer["tensors"].items()},
            answer["facts"],
            trace=answer["trace"],
        )
        for answer in answers
    ]


class _FailedError(Exception):
    """Carries a failure, and the facts observed with it, out of a rank."""

    def __init__(self, failure: Failure, facts: dict[str, Any]) -> None:
        super().__init__(failure.message)
        self.failure, self.facts = failure, facts


def _described(error: BaseException) -> dict[str, Any]:
    failure, facts = (error.failure, error.facts) if isinstance(error, _FailedError) else (failure_of(error), {})
    return {"failure": [failure.kind, failure.message], "facts": facts}


def _failed(failed: RanksError) -> Observation:
    """What is observed when some rank did not return."""
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


def _as_json(tensor: Tensor) -> tuple[list[int], list[float]]:
    """The shape of a tensor, which may be empty, and its numbers."""
    return list(tensor.shape), tensor.reshape(-1).tolist()


def _tensor(shape: list[int], values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def observe_ranks(function: Callable, trial: RanksTrial) -> Observation:
    """Run a loop on all ranks.

    Tensors are those of :func:`observe_loop`, with the rank appended to their names; ``ranks`` lists the facts of each rank.
    """
    seen = run_ranks(trial.world_size, lambda rank: _observe_rank(function, trial, rank), trial.loop.problem.seed)
    if seen[0].failure:
        return seen[0]
    tensors = {f"{name}{rank}": tensor for rank, one in enumerate(seen) for name, tensor in one.tensors.items()}
    return Observation(tensors, {"ranks": [one.facts for one in seen]}, trace=_any_trace(seen))


def _any_trace(seen: list[Observation]) -> str:
    return next((one.trace for one in seen if one.trace), "")


def _observe_rank(function: Callable, trial: RanksTrial, rank: int) -> Observation:
    """What :func:`observe_loop` returns for this rank, and what the loop asked ``torch.distributed`` to carry."""
    problem = replace(trial.loop.problem, rank=rank)
    wrapped: list[nn.parallel.DistributedDataParallel] = []
    carried = Collectives()
    flags: list[list[bool]] = []

    def loop(model: nn.Module, *arguments: Any) -> None:
        if not wrapped:
            wrapped.append(nn.parallel.DistributedDataParallel(model))
            wrapped[0].register_forward_hook(lambda module, x, out: _note_flags(module, out, flags))
        with carried:
            function(wrapped[0], *arguments)

    seen = observe_loop(loop, replace(trial.loop, problem=problem))
    shared = [call.bytes for call in carried.calls if call.kind != "broadcast"]
    # A broadcast may be the way back of a reduce or a gather; others are DistributedDataParallel's housekeeping, or needless.
    there = sum(call.bytes for call in carried.calls if call.kind in ("reduce", "gather"))
    back = sum(call.bytes for call in carried.calls if call.kind == "broadcast")
    reduced = sum(call.bytes for call in carried.all_reduces)
    shares = all(model.require_backward_grad_sync for model in wrapped)
    carries = {"rounds": len(shared), "bytes": sum(shared), "reduced": reduced, "sent_again": max(0, back - there)}
    late = sum(forward and not backward for forward, backward in flags)
    return replace(seen, facts=seen.facts | carries | {"late_no_sync": late, "shares_after": shares})


def _note_flags(wrapped: nn.parallel.DistributedDataParallel, output: object, flags: list[list[bool]]) -> None:
    """Record for a forward and its backward whether DistributedDataParallel was to synchronise at that moment."""
    entry = [wrapped.require_backward_grad_sync, True]
    flags.append(entry)
    if isinstance(output, Tensor) and output.requires_grad:

        def in_backward(gradient: Tensor) -> None:
            entry[1] = wrapped.require_backward_grad_sync

        output.register_hook(in_backward)


@dataclass(frozen=True)
class TokenTrial:
    """Several calls, one after the other, each with a number of tokens for every rank."""

    seed: int
    calls: tuple[tuple[int, ...], ...]

    @property
    def world_size(self) -> int:
        return len(self.calls[0])


def _factor(function: Callable, tokens: Tensor) -> float | str:
    """What the function returns for a rank's number of tokens: a number, or the name of its type if it is not a number."""
    value = function(tokens)
    try:
        number: Any = plain(value)
        while isinstance(number, list) and len(number) == 1:
            number = number[0]
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        return float(number) if is_number else type(value).__name__
    except (TypeError, OverflowError):
        return type(value).__name__


def observe_factors(function: Callable, trial: TokenTrial) -> Observation:
    """Call the function on every rank, once for each of the trial's calls.

    ``ranks`` lists the factors of each rank, ``shared`` how many collective operations each of its calls made, and ``kept``
    whether it left the numbers it was given as they were.
    """

    def work(rank: int) -> Observation:
        factors: list[float | str] = []
        shared: list[int] = []
        kept = True
        for call in trial.calls:
            tokens = torch.tensor(call[rank])
            with Collectives() as seen:
                factors.append(_factor(function, tokens))
            shared.append(len(seen.calls))
            given = torch.tensor(call[rank])
            kept = kept and tokens.dtype == given.dtype and torch.equal(tokens, given)
        return Observation(facts={"factors": factors, "shared": shared, "kept": kept})

    seen = run_ranks(trial.world_size, work, trial.seed)
    if seen[0].failure:
        return seen[0]
    names = {"ranks": "factors", "shared": "shared", "kept": "kept"}
    facts = {name: [one.facts[of] for one in seen] for name, of in names.items()}
    return Observation(facts=facts, trace=_any_trace(seen))


OBSERVERS = {"ddp_train_epoch": observe_ranks, "global_token_scale": observe_factors}
