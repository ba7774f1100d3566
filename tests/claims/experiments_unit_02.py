"""What the sources say about memory and speed, tried out. Each function is one row of the ledger."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import torch
from claim import Claim
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from gradaccum.phenomena.memory_bar import SAMPLES, WIDTH, Stack, measure
from gradaccum.recording import LiveBytes

UNIT = "02_memory_limits"
KIB = 1024


def row_8() -> Claim:
    """Do four micro-batches need a quarter of the memory?"""
    by_steps = {n: measure(n, "AdamW", checkpointing=False) for n in (1, 2, 4, 8)}
    one, four = by_steps[1], by_steps[4]
    activations, total = one.activations / four.activations, one.total / four.total
    fixed = all(memory.fixed == one.fixed for memory in by_steps.values())
    verdict = "true" if total > 3.6 else "partly true" if activations > 3.6 and fixed else "false"
    held = ", ".join(f"{memory.activations / KIB:.0f}" for memory in by_steps.values())
    figure = (
        f"activations for N = 1, 2, 4, 8: {held} KiB; weights, gradients and AdamW's state: {one.fixed / KIB:.0f} KiB for "
        f"every N. At N = 4 activations shrink {activations:.1f} times, the whole {total:.1f} times"
    )
    return Claim(8, "Accumulation saves memory: four micro-batches need a quarter", verdict, figure, UNIT)


def row_9() -> Claim:
    """Is there a key-value cache in training that accumulation could make smaller, or fail to?"""
    training, generating = alive_between_micro_batches(4), alive_between_tokens(4)
    keeps = training[-1] > training[0]
    verdict = "does not apply" if not keeps and generating[-1] > generating[0] else "applies"
    figure = (
        f"bytes of keys, values and anything else alive between the micro-batches of a window, gradients aside: {training}; "
        f"between the tokens of a generation with a cache: {generating}"
    )
    return Claim(9, "Accumulation makes the key-value cache smaller, or fails to", verdict, figure, UNIT)


def row_10() -> Claim:
    """Is the work per sample the same, and the time?"""
    counted = {n: count_work(n) for n in (1, 4, 16, 64)}
    same_flops = len({work.flops for work in counted.values()}) == 1
    more_calls = counted[64].operations > 10 * counted[1].operations
    verdict = "conditional" if same_flops and more_calls else "true" if same_flops else "false"
    calls = ", ".join(f"{work.operations}" for work in counted.values())
    times = ", ".join(f"{milliseconds(lambda n=n: train_window(n, 1)):.0f}" for n in counted)
    figure = (
        f"{SAMPLES} samples in N = 1, 4, 16, 64 micro-batches: {counted[1].flops / 1e6:.0f} million floating-point operations "
        f"each time, but {calls} calls into torch, so that small ones leave the device idle; {times} ms here"
    )
    return Claim(10, "Throughput per sample stays the same", verdict, figure, UNIT)


def row_11() -> Claim:
    """Is accumulating faster than one batch that fits? Than updating after every micro-batch?"""
    batch, accumulated, every = count_work(1), count_work(32), count_work(32, updates=32)
    slower, faster = accumulated.operations > batch.operations, accumulated.operations < every.operations
    verdict = "a myth" if slower and faster else "true" if not slower else "false"
    times = [milliseconds(lambda a=a: train_window(*a)) for a in ((1, 1), (32, 1), (32, 32))]
    figure = (
        f"{SAMPLES} samples: {batch.operations} calls into torch as one batch, {accumulated.operations} as 32 micro-batches "
        f"with one update, {every.operations} with an update after each; {', '.join(f'{t:.0f}' for t in times)} ms here"
    )
    return Claim(11, "Accumulation always speeds training up", verdict, figure, UNIT)


def row_34() -> Claim:
    """Do accumulation and activation checkpointing save memory independently of each other, at the same gradient?"""
    runs = {(n, kept): peak_and_gradient(n, kept) for n in (1, 4) for kept in (False, True)}
    peak = {key: bytes_ for key, (bytes_, _) in runs.items()}
    gradients = [gradient for _, gradient in runs.values()]
    same = all(torch.allclose(gradient, gradients[0], rtol=1e-9, atol=1e-12) for gradient in gradients)
    less = peak[1, True] < peak[1, False] and peak[4, False] < peak[1, False]
    both = peak[4, True] < min(peak[1, True], peak[4, False])
    verdict = "true" if same and less and both else "false"
    figure = (
        f"peak of live bytes beyond weights: {peak[1, False] / KIB:.0f} KiB as one batch, {peak[4, False] / KIB:.0f} with "
        f"N = 4, {peak[1, True] / KIB:.0f} with checkpointing, {peak[4, True] / KIB:.0f} with both; the gradients agree"
    )
    return Claim(34, "Activation checkpointing is independent of accumulation; combine them", verdict, figure, UNIT)


EXPERIMENTS: tuple[Callable[[], Claim], ...] = (row_8, row_9, row_10, row_11, row_34)


class CausalAttention(nn.Module):
    """One head of causal attention; with a cache it takes one token at a time."""

    def __init__(self, width: int):
        super().__init__()
        self.project = nn.Linear(width, 3 * width)

    def forward(self, x: Tensor, cache: list[Tensor] | None = None) -> Tensor:
        query, key, value = self.project(x).chunk(3, dim=-1)
        if cache is None:
            return F.scaled_dot_product_attention(query, key, value, is_causal=True)
        cache.append(torch.stack([key, value]))
        keys, values = torch.cat(cache, dim=2)
        return F.scaled_dot_product_attention(query, keys, values)


def alive_between_micro_batches(steps: int) -> list[int]:
    """Bytes that training keeps after each micro-batch of a window, beyond gradients."""
    torch.manual_seed(0)
    model, data = CausalAttention(16), torch.randn(steps, 2, 12, 16)
    alive = []
    with LiveBytes() as live:
        for x in data:
            F.mse_loss(model(x), x).backward()
            alive.append(live.now - sum(p.grad.nbytes for p in model.parameters()))
    return alive


@torch.no_grad()
def alive_between_tokens(tokens: int) -> list[int]:
    """Bytes that a generation with a key-value cache keeps after each token, beyond the token itself."""
    torch.manual_seed(0)
    model, x, cache = CausalAttention(16), torch.randn(2, 1, 16), []
    alive = []
    with LiveBytes() as live:
        for _ in range(tokens):
            x = model(x, cache)
            alive.append(live.now - x.nbytes)
    return alive


@dataclass(frozen=True)
class Work:
    """Floating-point operations of matrix products, and calls into torch."""

    flops: int
    operations: int


def count_work(steps: int, updates: int = 1) -> Work:
    with FlopCounterMode(display=False) as flops, LiveBytes() as live:
        train_window(steps, updates)
    return Work(flops.get_total_flops(), len(live.curve))


def train_window(steps: int, updates: int) -> None:
    """``steps`` micro-batches of 512 samples in all, with ``updates`` updates, evenly spread."""
    torch.manual_seed(0)
    model = Stack(checkpointing=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.001)
    x, y = torch.randn(2, SAMPLES, WIDTH)
    for k, (a, b) in enumerate(zip(x.chunk(steps), y.chunk(steps), strict=True), 1):
        (F.mse_loss(model(a), b) * updates / steps).backward()
        if k % (steps // updates) == 0:
            optimizer.step()
            optimizer.zero_grad()


def peak_and_gradient(steps: int, checkpointing: bool) -> tuple[int, Tensor]:
    """Peak of bytes alive while a window's gradient is taken, and the gradient, in float64."""
    torch.manual_seed(0)
    model = Stack(checkpointing).double()
    x, y = torch.randn(2, SAMPLES, WIDTH, dtype=torch.float64)
    with LiveBytes() as live:
        for a, b in zip(x.chunk(steps), y.chunk(steps), strict=True):
            (F.mse_loss(model(a), b) / steps).backward()
    return live.peak, torch.cat([p.grad.flatten() for p in model.parameters()])


def milliseconds(run: Callable[[], None], times: int = 3) -> float:
    """Median time of a run; for the page only, never for a verdict."""
    run()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(1000 * (time.perf_counter() - start))
    return median(taken)
