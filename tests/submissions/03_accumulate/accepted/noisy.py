"""Prints, logs, warns, times and asserts, and is right."""

import logging
import sys
import time
import warnings

EXERCISE = "accumulate_gradient"

logging.basicConfig(level=logging.DEBUG)


def accumulate_gradient(model, loss_fn, micro_batches):
    began = time.perf_counter()
    samples = sum(len(x) for x, _ in micro_batches)
    assert samples > 0
    model.zero_grad()
    for k, (x, y) in enumerate(micro_batches, 1):
        loss = loss_fn(model(x), y) * len(x) / samples
        loss.backward()
        print(f"{k}/{len(micro_batches)} loss {loss.item():.4f}")
        print("." * k, end="\r", file=sys.stderr)
        logging.info("after %.3f s", time.perf_counter() - began)
    warnings.warn("done", stacklevel=2)
