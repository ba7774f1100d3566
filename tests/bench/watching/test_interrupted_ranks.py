"""A rank that raises, is interrupted or dies: the others end as they would unwatched, and no rank loses what it saw."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import socket
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

import gradaccum

N, SECONDS = 2, 120
"""Micro-batches of a window; how long a rank may take before the test calls it hung."""


class NoDataError(Exception):
    """The trainer's own."""


def raises():
    raise NoDataError


def is_interrupted():
    os.kill(os.getpid(), signal.SIGINT)


def dies():
    os._exit(9)


def happens_in_a_backward(act, parameter):
    """The parameter's gradient arrives, and ``act`` is called before the ranks have averaged it."""
    parameter.register_hook(lambda gradient: act())


def train(model, is_struck, offset, act, where):
    """Windows of two micro-batches; in the third, if it ``is_struck``, something happens in the trainer or in its backward."""
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    for window in range(5):
        for k in range(N):
            quiet = model.no_sync() if k < N - 1 else contextlib.nullcontext()
            with quiet:
                loss = F.mse_loss(model(torch.ones(2, 3)), torch.full((2, 2), offset)) / N
                if is_struck and (window, k) == (2, N - 1):
                    act() if where == "trainer" else happens_in_a_backward(act, model.module.weight)
                loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def on_a_rank(rank, port, struck, act, where, watched, path):
    """Train, and leave in a file how it ended and what was seen."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    os.environ["GLOO_SOCKET_IFNAME"] = next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    model = DistributedDataParallel(nn.Linear(3, 2))
    ended, report, joined = "", None, []
    with contextlib.ExitStack() as stack:
        seen = gradaccum.watch(model, N)
        try:
            with seen if watched else contextlib.nullcontext() as report:
                train(model, rank == struck, 1.0 + rank, act, where)
        except BaseException as error:
            ended = type(error).__name__
        for _ in range(2) if watched and rank != struck else ():  # what is sent first to a process that died seems to arrive
            try:
                report.joined(seconds=0.2)
            except TimeoutError as error:
                joined.append(str(error))
        said = {"ended": ended, "joined": joined, "values": [p.tolist() for p in model.parameters()]}
        Path(path, f"{rank}.json").write_text(json.dumps(said | {"seen": report.as_json() if watched else None}))
        stack.callback(os._exit, 0)  # torch hangs now and then if a group is closed while one of its threads waits for Python


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def both_ranks(path, struck, act, where, watched) -> dict:
    """What the ranks left behind, by rank, of those that came to it; and the exit status of each."""
    import torch._dynamo  # noqa: F401 - DistributedDataParallel does; here it costs its second once, not in each rank

    path.mkdir()
    context, port = multiprocessing.get_context("fork"), free_port()
    work = partial(on_a_rank, port=port, struck=struck, act=act, where=where, watched=watched, path=path)
    ranks = [context.Process(target=work, args=(rank,)) for rank in range(2)]
    for one in ranks:
        one.start()
    for one in ranks:
        one.join(SECONDS)
    hung = [one for one in ranks if one.is_alive()]
    for one in hung:
        one.kill()
    assert not hung, "a rank hung"
    return {int(file.stem): json.loads(file.read_text()) for file in path.glob("*.json")} | {
        "status": [one.exitcode for one in ranks]
    }


HAPPENS = [
    *((1, raises, "trainer"), (1, raises, "backward"), (1, is_interrupted, "trainer"), (1, is_interrupted, "backward")),
    *((1, dies, "trainer"), (0, dies, "backward")),  # rank 0 keeps the store in which ranks meet
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("struck", "act", "where"), HAPPENS, ids=[f"{act.__name__}-{where}-{rank}" for rank, act, where in HAPPENS]
)
def test_ranks_end_as_unwatched_ones_do_and_keep_what_they_saw(tmp_path, struck, act, where):
    alone = both_ranks(tmp_path / "alone", struck, act, where, watched=False)
    ended = both_ranks(tmp_path / "watched", struck, act, where, watched=True)
    assert ended["status"] == alone["status"]
    assert ended.keys() == alone.keys()
    for rank in {0, 1} & ended.keys():
        assert (ended[rank]["ended"], ended[rank]["values"]) == (alone[rank]["ended"], alone[rank]["values"])
        assert ended[rank]["ended"]
        seen = ended[rank]["seen"]
        assert seen["updates"] == 2
        assert seen["matrices"][0]["found"][0][:N] == [1 / N / 2] * N
    said = f"rank {struck} did not call seen.joined() within 0.2 s of rank {1 - struck}"
    assert [line.startswith(said) for line in ended[1 - struck]["joined"]] == [True, True]
