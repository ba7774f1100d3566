"""Clears before the first of N micro-batches, which none is if N is 1."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.loops import windows

EXERCISE = "train_epoch_clipped"
MISTAKES = ()
LOST = ("idle",)


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            if k % accumulation_steps == 1:
                optimizer.zero_grad()
            (loss_fn(model(x), y) * len(x) / samples).backward()
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        optimizer.step()
    return norms
