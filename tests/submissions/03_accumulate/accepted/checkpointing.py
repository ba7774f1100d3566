"""Recomputes activations in backward with torch.utils.checkpoint."""

from torch.utils.checkpoint import checkpoint

EXERCISE = "accumulate_gradient"


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = checkpoint(lambda x, y: loss_fn(model(x), y), x, y, use_reentrant=False)
        (loss * len(x) / samples).backward()
