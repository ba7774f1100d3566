"""What accumulation does to the memory of a GPU, by ``torch.cuda.max_memory_allocated``."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from gradaccum.loops import right
from gradaccum.phenomena import memory_bar
from gradaccum.recording import LiveBytes

WIDTH, LAYERS, SAMPLES, MIB = 256, 8, 1024, 2**20


def stack() -> nn.Module:
    return nn.Sequential(*(part for _ in range(LAYERS) for part in (nn.Linear(WIDTH, WIDTH), nn.Tanh()))).cuda()


def batches(count: int, samples: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    return [(torch.randn(samples, WIDTH, device="cuda"), torch.randn(samples, WIDTH, device="cuda")) for _ in range(count)]


def peak(count: int, samples: int, accumulation_steps: int) -> tuple[int, int]:
    """Bytes that one window needs beyond model and data, as the allocator counts them and as the bench does."""
    model, data = stack(), batches(count, samples)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    right(model, F.mse_loss, optimizer, batches(1, 8), 1)  # libraries take a workspace the first time
    optimizer.zero_grad()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    with LiveBytes() as live:
        right(model, F.mse_loss, optimizer, data, accumulation_steps)
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before, live.peak


def test_a_window_needs_as_much_as_one_micro_batch_whatever_n_is(record_property):
    peaks = {n: peak(n, SAMPLES, n)[0] for n in (2, 4, 8, 16)}
    said = ", ".join(f"{value / MIB:.1f} MiB for N={n}" for n, value in peaks.items())
    record_property("figure", f"max_memory_allocated, micro-batches of {SAMPLES}: {said}")
    assert max(peaks.values()) <= 1.05 * min(peaks.values())


def test_one_large_batch_needs_more_the_larger_it_is(record_property):
    peaks = {n: peak(1, n * SAMPLES, 1)[0] for n in (1, 2, 4, 8, 16)}
    said = ", ".join(f"{value / MIB:.1f} MiB for {n * SAMPLES}" for n, value in peaks.items())
    record_property("figure", f"max_memory_allocated, one large batch: {said}")
    assert all(peaks[2 * n] > 1.5 * peaks[n] for n in (1, 2, 4, 8))


def test_the_bench_counts_what_the_allocator_counts():
    allocated, live = peak(4, SAMPLES, 4)
    assert live == pytest.approx(allocated, rel=0.1)


def test_the_allocator_s_peak_grows_with_the_activations():
    one, four = (memory_bar.measure(n, "AdamW", checkpointing=False, device="cuda") for n in (1, 4))
    assert one.peak >= one.total
    assert one.peak - four.peak == pytest.approx(one.activations - four.activations, rel=0.5)


def test_the_explorable_shows_what_the_gpu_s_allocator_says():
    result = memory_bar.compute(memory_bar.Settings())
    assert result.device == "cuda"
    assert result.chosen.peak >= result.chosen.total
    assert "measured on cuda" in memory_bar.describe(result)
