"""Takes the micro-batches out of the list it was given."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.loops import windows

EXERCISE = "train_epoch_clipped"
MISTAKES = ()
LOST = ("idle",)


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms = []
    if isinstance(micro_batches, list):
        stream = (micro_batches.pop(0) for _ in range(len(micro_batches)))
    else:
        stream = micro_batches
    for window in windows(stream, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * (len(x) / samples)).backward()
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        optimizer.step()
    return norms
