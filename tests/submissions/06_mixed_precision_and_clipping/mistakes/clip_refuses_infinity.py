"""Clears by multiplying by zero, which leaves NaN where .grad held infinity, and clips with a function that refuses NaN."""

from itertools import islice

from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_clipped"
MISTAKES = ()
LOST = ("idle",)
SAYS = ("RuntimeError",)


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(0.0)
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        norms.append(clip_grad_norm_(model.parameters(), max_norm, error_if_nonfinite=True).item())
        optimizer.step()
    return norms
