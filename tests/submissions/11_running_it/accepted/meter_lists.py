"""Keeps detached losses and sizes in lists and computes at the update."""

import time

import torch

EXERCISE = "RunMeter"


class RunMeter:
    def __init__(self, clock=time.perf_counter):
        self.clock, self.ticks = clock, [clock()]
        self.seen = []

    def micro_batch(self, loss, samples):
        self.seen.append((loss.detach(), samples))

    def update(self, lr):
        self.ticks.append(self.clock())
        losses = torch.stack([loss for loss, _ in self.seen])
        sizes = torch.tensor([float(samples) for _, samples in self.seen], dtype=losses.dtype, device=losses.device)
        self.seen.clear()
        batch = int(sizes.sum())
        rate = batch / (self.ticks[-1] - self.ticks[-2])
        return dict(loss=(losses * sizes).sum() / batch, samples_per_second=rate, effective_batch=batch, lr=lr)
