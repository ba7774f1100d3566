"""Clips the sum over samples with a threshold as many times as large, and divides afterwards."""

from itertools import islice

from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_clipped"


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        model.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x)).backward()
        norms.append(clip_grad_norm_(model.parameters(), max_norm * samples).item() / samples)
        for p in model.parameters():
            p.grad.div_(samples)
        optimizer.step()
    model.zero_grad()
    return norms
