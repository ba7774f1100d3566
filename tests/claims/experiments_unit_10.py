"""What the sources say about several ranks, tried out on real processes. Each function is one row of the ledger."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from claim import Claim
from torch import nn

from gradaccum.collectives import Collectives
from gradaccum.loops.ddp import DDP_GALLERY
from gradaccum.phenomena.ranks_over_time import LINKS, RANKS, Settings, compute
from gradaccum.problems import Problem, flat_parameters
from gradaccum.ranks import on_ranks

UNIT = "10_distributed"
PROBLEM = Problem(seed=10, epochs=((2,) * 8,), dtype="float32")
STEPS = (1, 2, 4, 8)


def row_32() -> Claim:
    """Does no_sync leave one all-reduce per window, wherever it stands?"""
    (once, little), (late, much) = (carried(slug, 4)[:2] for slug in ("right", "sync-around-backward-only"))
    windows = len(PROBLEM.epochs[0]) // 4
    same = carried("right", 4)[2] == carried("right", 4)[3]
    if once == windows and same:
        verdict = "true with the forward inside" if late > once else "true"
    else:
        verdict = "false"
    figure = (
        f"per window of N = 4, on two ranks: no_sync around forward and backward {once // windows} all-reduce and "
        f"{little // windows:,} bytes, around the backward only {late // windows} and {much // windows:,}"
    )
    return Claim(32, "With no_sync there is one all-reduce per window", verdict, figure, UNIT)


def row_33() -> Claim:
    """By how much does accumulation reduce what ranks send each other?"""
    pairs = {n: (carried("sync-every", n)[:2], carried("right", n)[:2]) for n in STEPS}
    factors = {n: (every[0] / once[0], every[1] / once[1]) for n, (every, once) in pairs.items()}
    exact = all(calls == size == n for n, (calls, size) in factors.items())
    fits = all(4 <= calls <= 8 for calls, _ in factors.values())
    verdict = "N times, not a fixed factor" if exact and not fits else "true" if fits else "false"
    listed = ", ".join(f"{calls:g}" for calls, _ in factors.values())
    figure = f"all-reduces and bytes of a DistributedDataParallel at N = {', '.join(map(str, STEPS))} fall {listed} times"
    return Claim(33, "Communication falls 4–8×", verdict, figure, UNIT)


def row_38() -> Claim:
    """Are several ranks faster than one?"""
    links = list(LINKS.values())
    right, often = ([compute(Settings(place, 4, link)).speed for link in links] for place in ("right", "sync-every"))
    depends = min(often) < 0.6 * RANKS and max(right) > 0.9 * RANKS and right == sorted(right, reverse=True)
    verdict = "true where the link is fast, or the window long" if depends else "true" if min(often) > 0.9 * RANKS else "false"
    figure = (
        f"in a model in which an all-reduce takes {', '.join(f'{link:g}' for link in links)} forward passes, {RANKS} ranks do "
        f"{', '.join(f'{speed:.1f}' for speed in often)} times the work of one if they share after every micro-batch, "
        f"{', '.join(f'{speed:.1f}' for speed in right)} times once per window of N = 4"
    )
    return Claim(38, "Several GPUs are faster where bandwidth allows", verdict, figure, UNIT)


EXPERIMENTS: tuple[Callable[[], Claim], ...] = (row_32, row_33, row_38)


@functools.cache
def carried(slug: str, accumulation_steps: int) -> tuple[int, int, tuple, tuple]:
    """All-reduces and bytes of rank 0 in an epoch of eight micro-batches, and the parameters of two ranks after it."""

    def work(rank: int) -> list:
        mine = PROBLEM.with_(rank=rank)
        model = nn.parallel.DistributedDataParallel(mine.build_model())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with Collectives() as seen:
            DDP_GALLERY[slug](model, mine.loss_fn, optimizer, mine.batches(), accumulation_steps)
        return [len(seen.all_reduces), sum(call.bytes for call in seen.all_reduces), flat_parameters(model).tolist()]

    (calls, size, first), (_, _, second) = on_ranks(2, work)
    return calls, size, tuple(first), tuple(second)
