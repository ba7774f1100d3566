"""Run a function as several ranks: processes that talk to each other through ``torch.distributed``, on one machine."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from gradaccum.threads import one_thread

SECONDS = 20.0
"""Wall-clock time for all ranks together; two ranks that train a small model need a tenth of a second."""

MAX_ANSWER_BYTES = 4 * 2**20
"""Bytes of JSON that one rank may return."""


class RanksError(RuntimeError):
    """A rank did not return, so no result is complete.

    Attributes:
        rank: the first of them.
        kind: ``"raised"``, ``"died"``, ``"time"``, ``"large"`` if it returned more than :data:`MAX_ANSWER_BYTES`, or
            ``"gpu"`` if this process sees a GPU and has gone backward: autograd then has threads and does not work in a fork.
        said: the error as ``describe`` put it, if there was one; else one line that says what happened.
    """

    def __init__(self, rank: int, kind: str, said: Any):
        super().__init__(f"rank {rank}: {said}")
        self.rank, self.kind, self.said = rank, kind, said


def on_ranks(
    world_size: int,
    work: Callable[[int], Any],
    *,
    seconds: float = SECONDS,
    describe: Callable[[BaseException], Any] = lambda error: f"{type(error).__name__}: {error}"[:400],
) -> list[Any]:
    """Call ``work(rank)`` in ``world_size`` processes at once and return what each of them returned, in order of rank.

    In each process the default process group of ``torch.distributed`` is open, with gloo over the loopback interface. The
    processes are forks of this one: ``work`` may be any function and sees everything that is here, changes nothing here, and
    computes on the CPU, since a fork cannot use a GPU that its parent uses.

    Args:
        world_size: number of ranks.
        work: must return something that JSON can hold.
        seconds: wall-clock limit for all of them.
        describe: turns an error that ``work`` raised into JSON, in the process that raised it.

    Raises:
        RanksError: a rank raised an error, died, or did not end; all the others are killed.
        RuntimeError: this process has a process group open already, or this system cannot fork.

    A process that will start ranks must hide its GPUs before it uses them: ``CUDA_VISIBLE_DEVICES=""``.
    """
    if not hasattr(os, "fork"):
        raise RuntimeError("several ranks need a system that can fork: Linux, macOS, or WSL on Windows")
    if dist.is_initialized():
        raise RuntimeError("a process group is open here: close it with torch.distributed.destroy_process_group()")
    import torch._dynamo  # noqa: F401 - DistributedDataParallel does; here it costs its second once, not in each rank

    with (
        tempfile.TemporaryDirectory(prefix="gradaccum-", ignore_cleanup_errors=True) as place,
        one_thread(),
        _started(world_size, work, Path(place, "store"), describe) as ranks,
    ):
        _await(ranks, seconds)
        return [rank.returned for rank in ranks]


@contextlib.contextmanager
def single_rank() -> Iterator[None]:
    """A process group of this process alone, for what a single process can show: DistributedDataParallel makes the same calls.

    If a group is open already, that one stays.
    """
    if dist.is_initialized():
        yield
        return
    before, hook = os.environ.get(_INTERFACE), sys.excepthook
    os.environ[_INTERFACE] = _loopback()
    try:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        yield
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
        sys.excepthook = hook  # torch's would write "rank 0" before every error from now on
        if before is None:
            del os.environ[_INTERFACE]
        else:
            os.environ[_INTERFACE] = before


_INTERFACE = "GLOO_SOCKET_IFNAME"


@dataclass
class _Rank:
    """A rank as its parent sees it: what it has sent so far through a pipe, and in the end what it returned."""

    number: int
    process: int
    pipe: int
    data: bytearray = field(default_factory=bytearray)
    done: bool = False
    reaped: bool = False
    returned: Any = None


@contextlib.contextmanager
def _started(world_size: int, work: Callable, store: Path, describe: Callable) -> Iterator[list[_Rank]]:
    """The processes; at the end they are killed, with everything they have started."""
    ranks: list[_Rank] = []
    stay, leave = os.pipe()  # a finished rank stays until this is closed: its exit would look like a crash to the others
    try:
        for number in range(world_size):
            receive, send = os.pipe()
            process = os.fork()
            if process == 0:
                os.close(leave)
                _run_rank(number, world_size, work, store, describe, send, stay)
            os.close(send)
            with contextlib.suppress(OSError):  # it may have done so itself, and may have ended already
                os.setpgid(process, process)
            ranks.append(_Rank(number, process, receive))
        yield ranks
    finally:
        for rank in ranks:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(rank.process, signal.SIGKILL)
            if not rank.reaped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank.process, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(rank.process, 0)
            os.close(rank.pipe)
        os.close(stay)
        os.close(leave)


def _run_rank(number: int, world_size: int, work: Callable, store: Path, describe: Callable, send: int, stay: int) -> None:
    """What a rank does, from fork to exit."""
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        gc.freeze()  # objects of the parent are not collected here
        _silence()
        torch.set_num_threads(1)
        os.environ[_INTERFACE] = _loopback()
        try:
            if _autograd_works():
                shared = dist.FileStore(str(store), world_size)
                day = timedelta(days=1)  # the parent keeps the time
                dist.init_process_group("gloo", store=shared, rank=number, world_size=world_size, timeout=day)
                answer = json.dumps(["returned", work(number)])
            else:
                answer = json.dumps(["gpu", "a process that has used a GPU cannot be forked"])
        except BaseException as error:
            answer = json.dumps(["raised", describe(error)])
        with open(send, "wb") as pipe:
            pipe.write(answer.encode())
        os.read(stay, 1)
    finally:
        os._exit(0)


def _autograd_works() -> bool:
    """See ``"gpu"`` in :class:`RanksError`."""
    try:
        torch.ones(1, requires_grad=True).sum().backward()
    except RuntimeError:
        return False
    return True


def _silence() -> None:
    """Close standard input and output: several processes would talk at once."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _loopback() -> str:
    """The name of the loopback interface: ``lo`` or ``lo0``."""
    return next((name for _, name in socket.if_nameindex() if name.startswith("lo")), "lo")


def _await(ranks: list[_Rank], seconds: float) -> None:
    """Read what the ranks send until all have returned.

    Raises:
        RanksError: one of them did not.
    """
    end = time.monotonic() + seconds
    while waiting := [rank for rank in ranks if not rank.done]:
        left = end - time.monotonic()
        if left <= 0:
            raise RanksError(waiting[0].number, "time", f"still running after {seconds:g} seconds")
        ready, _, _ = select.select([rank.pipe for rank in waiting], [], [], min(left, 0.1))
        for rank in waiting:
            if rank.pipe in ready:
                _receive(rank)
            elif _has_ended(rank):
                raise RanksError(rank.number, "died", "the process ended early")


def _receive(rank: _Rank) -> None:
    """Read what is in the pipe; at its end the answer is complete and is parsed."""
    piece = os.read(rank.pipe, 2**16)
    rank.data += piece
    if len(rank.data) > MAX_ANSWER_BYTES:
        raise RanksError(rank.number, "large", f"returned more than {MAX_ANSWER_BYTES:,} bytes")
    if piece:
        return
    try:
        kind, value = json.loads(rank.data)
    except (ValueError, TypeError, RecursionError):
        raise RanksError(rank.number, "died", "the process ended early") from None
    if kind != "returned":
        raise RanksError(rank.number, kind if kind == "gpu" else "raised", value)
    rank.done, rank.returned = True, value


def _has_ended(rank: _Rank) -> bool:
    """Whether the process has ended and its pipe is empty; a process it started may hold the pipe open."""
    if select.select([rank.pipe], [], [], 0)[0]:
        return False
    with contextlib.suppress(ChildProcessError):
        rank.reaped = os.waitpid(rank.process, os.WNOHANG)[0] != 0
        return rank.reaped
    return True
