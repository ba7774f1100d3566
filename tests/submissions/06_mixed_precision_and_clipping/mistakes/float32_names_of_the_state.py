"""Takes the names from the state of the model, which has buffers as well."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("sums", "ragged")


def accumulate_in_float32(model, loss_fn, micro_batches):
    state = model.state_dict(keep_vars=True)
    total = sum(len(x) for x, _ in micro_batches)
    sums = {name: torch.zeros_like(tensor, dtype=torch.float32) for name, tensor in state.items()}
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for name, tensor in state.items():
            if tensor.grad is not None:
                sums[name] += tensor.grad.float() * (len(x) / total)
    return sums
