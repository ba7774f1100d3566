"""Clips and updates after every micro-batch."""

from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_clipped"
MISTAKES = ("step-every",)
LOST = ("bound", "idle", "norms")


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms = []
    for x, y in micro_batches:
        optimizer.zero_grad()
        (loss_fn(model(x), y) / accumulation_steps).backward()
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        optimizer.step()
    optimizer.zero_grad()
    return norms
