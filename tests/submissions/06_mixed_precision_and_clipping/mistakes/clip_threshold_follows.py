"""Lowers the threshold towards the norms it has seen in the epoch."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.loops import windows

EXERCISE = "train_epoch_clipped"
MISTAKES = ()
LOST = ("bound",)


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms, limit = [], max_norm
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        norms.append(float(clip_grad_norm_(model.parameters(), limit)))
        limit = 0.9 * limit + 0.1 * min(norms[-1], max_norm)
        optimizer.step()
    return norms
