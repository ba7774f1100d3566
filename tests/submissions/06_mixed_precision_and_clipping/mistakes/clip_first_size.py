"""Takes each micro-batch of a window to be as large as the first."""

from itertools import islice

from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_clipped"
MISTAKES = ()
LOST = ("bound", "norms")
SAYS = ("Where windows are ragged and their norm is below the threshold:",)


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = len(window) * len(window[0][0])
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        norms.append(clip_grad_norm_(model.parameters(), max_norm).item())
        optimizer.step()
    return norms
