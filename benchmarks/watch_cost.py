"""What watching costs: time and memory over an unwatched run, by model size and accumulation steps.

    python benchmarks/watch_cost.py [--windows 7] [--largest]

Windows of a small GPT are trained in turn with and without watching, in one process, so noise of the machine hits both alike.
Time is the process's CPU time, and the share is the median over pairs of neighbours. Memory is what the watcher holds on to.
Without ``--largest`` the model with 124 million parameters is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import statistics
import sys
import time

import torch
from torch import nn

import gradaccum
from gradaccum.capstone.model import Block

LENGTH = 128
MODELS = {"0.1 million": (50, 64, 2, 2), "10 million": (5000, 384, 4, 4), "124 million": (50257, 768, 12, 12)}
"""Words, width, depth and heads."""


class GPT(nn.Module):
    """The capstone's blocks between an embedding and a head that share their weights."""

    def __init__(self, words: int, width: int, depth: int, heads: int):
        super().__init__()
        self.tokens = nn.Embedding(words, width)
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(self.tokens(x)))


def window(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int, words: int) -> None:
    """One update of ``steps`` micro-batches of one sequence."""
    x, y = torch.randint(0, words, (2, 1, LENGTH))
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten()) / steps
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def timed(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int, words: int, watched: bool) -> tuple[float, int]:
    """CPU seconds of one window, and bytes the watcher held at its end."""
    gc.collect()
    begun = time.process_time()
    with gradaccum.watch(model, steps) if watched else contextlib.nullcontext() as seen:
        window(model, optimizer, steps, words)
    seconds = time.process_time() - begun
    return seconds, _held_bytes(seen) if watched else 0


def _held_bytes(seen: gradaccum.watching.Seen) -> int:
    """The bytes of all tensors that what was seen holds on to; none of them belong to the model."""
    held = seen._holdings.held.values()
    tensors = [t for one in held for t in (one.after, one.values, *one.parts.values()) if t is not None]
    arrived = [t for loss in seen._log.losses for a in loss.weights.values() for t in vars(a).values()]
    return sum(t.untyped_storage().nbytes() for t in (*tensors, *arrived))


def main() -> int:
    parser = argparse.ArgumentParser(description="Time and memory that watching costs.")
    parser.add_argument("--windows", type=int, default=7, help="pairs of windows for each row")
    parser.add_argument("--largest", action="store_true", help="also 124 million parameters (minutes, 3 GB)")
    options = parser.parse_args()
    torch.manual_seed(0)
    print(f"{'parameters':<14}{'N':>4}{'alone':>10}{'watched':>10}{'more':>8}{'held':>12}{'of parameters':>15}")
    for name, (words, width, depth, heads) in MODELS.items():
        if name.startswith("124") and not options.largest:
            continue
        model = GPT(words, width, depth, heads)
        optimizer = torch.optim.AdamW(model.parameters(), 1e-5)
        for steps in (4, 16):
            timed(model, optimizer, steps, words, False)
            timed(model, optimizer, steps, words, True)
            pairs = [
                (timed(model, optimizer, steps, words, False)[0], timed(model, optimizer, steps, words, True))
                for _ in range(options.windows)
            ]
            more = statistics.median(watched / alone - 1 for alone, (watched, _) in pairs)
            held = pairs[-1][1][1]
            size = sum(p.numel() * p.element_size() for p in model.parameters())
            alone = statistics.median(a for a, _ in pairs)
            watched = statistics.median(w for _, (w, _) in pairs)
            print(f"{name:<14}{steps:>4}{alone:>8.3f} s{watched:>8.3f} s{more:>8.1%}{held / 1e3:>9.0f} kB{held / size:>15.2%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
