"""Multiplies the learning rate by N for each update."""

from itertools import islice

from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_clipped"
MISTAKES = ()
LOST = ("bound", "idle")
SAYS = ("times as far as the learning rate says. No norm reaches max_norm there",)


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        for group in optimizer.param_groups:
            group["lr"] *= accumulation_steps
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] /= accumulation_steps
    return norms
