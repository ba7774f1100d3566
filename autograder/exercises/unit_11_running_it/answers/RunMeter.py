"""Adds up numbers with every micro-batch.

Keeps detached losses and does the arithmetic once per update, so that a GPU need not wait for `item()`
after every micro-batch.
"""

import time

import torch


class RunMeter:
    def __init__(self, clock=time.perf_counter):
        self.clock, self.began = clock, clock()
        self.seen = []

    def micro_batch(self, loss, samples):
        self.seen.append((loss.detach(), samples))

    def update(self, lr):
        began, self.began = self.began, self.clock()
        losses = torch.stack([loss for loss, _ in self.seen])
        sizes = torch.tensor([float(samples) for _, samples in self.seen], dtype=losses.dtype, device=losses.device)
        self.seen.clear()
        batch = int(sizes.sum())
        rate = batch / (self.began - began)
        return {"loss": (losses * sizes).sum() / batch, "samples_per_second": rate, "effective_batch": batch, "lr": lr}
