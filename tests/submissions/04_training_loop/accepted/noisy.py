"""Prints, logs, warns, times, draws a progress bar on stderr and asserts a lot, and is right."""

import logging
import sys
import time
import warnings
from itertools import islice

EXERCISE = "train_epoch"

log = logging.getLogger("training")
log.addHandler(logging.StreamHandler(sys.stderr))


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    began = time.perf_counter()
    assert accumulation_steps >= 1, "need at least one"
    warnings.warn("this is going to be loud", stacklevel=2)
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for k, (x, y) in enumerate(window, 1):
            assert x.shape[0] == y.shape[0]
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
            print(f"\r{'#' * k:<{accumulation_steps}}|", end="", file=sys.stderr, flush=True)
        optimizer.step()
        losses.append(window_loss)
        print("window", len(losses), "loss", window_loss)
        log.warning("%d samples in %.3f s", samples, time.perf_counter() - began)
    optimizer.zero_grad()
    return losses
