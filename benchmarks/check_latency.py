"""How long a student waits for ``check(train_epoch)``: marking, diagnosis and drawing the verdict, in one warm process.

python benchmarks/check_latency.py
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable
from contextlib import redirect_stdout

from table import Row, as_markdown

from autograder.desk.check import check
from autograder.showing.verdict_html import as_html
from gradaccum.loops import samples_in, windows

RUNS = 20


def measure() -> list[Row]:
    """Times for a right answer, for one with two mistakes, and for one that no catalogued mistakes explain."""
    return [
        _row("a right answer", 1.0, right),
        _row("two mistakes at once", 2.0, sums_and_loses_tail),
        _row("no known mistake", 2.0, odd),
    ]


def right(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples, mean = samples_in(window), 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            mean += loss.item()
        optimizer.step()
        losses.append(mean)
    optimizer.zero_grad()
    return losses


def sums_and_loses_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for x, y in window:
            loss_fn(model(x), y).backward()
        if len(window) == accumulation_steps:
            optimizer.step()
    return []


def odd(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """Weighs the k-th micro-batch of a window by k: linear, but nothing in the catalogue, so the search runs to its end."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for k, (x, y) in enumerate(window, 1):
            (loss_fn(model(x), y) * k).backward()
        optimizer.step()
    return []


def _row(title: str, budget: float, loop: Callable) -> Row:
    loop.__name__ = "train_epoch"
    first = _seconds(loop)
    return Row(f"`check(train_epoch)`, {title}", budget, [_seconds(loop) for _ in range(RUNS)], first)


def _seconds(loop: Callable) -> float:
    start = time.perf_counter()
    with redirect_stdout(io.StringIO()):  # outside a notebook, check prints the verdict as well
        as_html(check(loop))
    return time.perf_counter() - start


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(as_markdown(measure()))
