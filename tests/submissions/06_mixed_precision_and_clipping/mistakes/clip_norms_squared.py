"""Returns squared norms."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.loops import windows

EXERCISE = "train_epoch_clipped"
MISTAKES = ("norm-squared",)
LOST = ("norms",)


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)) ** 2)
        optimizer.step()
    return norms
