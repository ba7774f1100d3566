"""Weights the micro-batches of a leftover window equally, and does not clip there."""

from itertools import islice

from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_clipped"
MISTAKES = ()
LOST = ("bound", "norms")
SAYS = ("Where micro-batches are ragged and the optimizer has two parameter groups: Update",)


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        whole = len(window) == accumulation_steps
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * (len(x) / samples if whole else 1 / len(window))).backward()
        norms.append(clip_grad_norm_(model.parameters(), max_norm if whole else float("inf")).item())
        optimizer.step()
    return norms
