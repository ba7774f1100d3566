"""Returns the number of samples beside the sums."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("sums", "ragged")
SAYS = ("A key of the dictionary you return is not the name of a parameter.",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    sums = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for name, p in model.named_parameters():
            sums[name] += p.grad.float() * (len(x) / samples)
    model.zero_grad()
    return sums | {"samples": samples}
