"""Returns the longest gradient that there was while a window was added up."""

from itertools import islice

from torch.nn.utils import clip_grad_norm_, get_total_norm

EXERCISE = "train_epoch_clipped"
MISTAKES = ()
LOST = ("norms",)


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms, stream = [], iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        total, longest = sum(len(x) for x, _ in window), 0.0
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / total).backward()
            longest = max(longest, get_total_norm([p.grad for p in model.parameters() if p.grad is not None]).item())
        clip_grad_norm_(model.parameters(), max_norm)
        norms.append(longest)
        optimizer.step()
    return norms
