"""Returns its losses as a numpy array."""

from itertools import islice

import numpy as np

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        sizes = np.array([len(x) for x, _ in window])
        each = []
        for (x, y), share in zip(window, sizes / sizes.sum(), strict=True):
            loss = loss_fn(model(x), y)
            (loss * float(share)).backward()
            each.append(loss.detach().cpu().numpy())
        optimizer.step()
        losses.append(np.average(each, weights=sizes))
    optimizer.zero_grad()
    return np.array(losses)
