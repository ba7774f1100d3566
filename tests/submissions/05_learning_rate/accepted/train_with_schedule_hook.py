"""Notes the rate in a hook of the optimizer."""

import torch

from gradaccum.loops import windows

EXERCISE = "train_with_schedule"


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    rates = []
    hook = optimizer.register_step_pre_hook(lambda opt, args, kwargs: rates.append(opt.param_groups[0]["lr"]))
    for window in windows(micro_batches, accumulation_steps):
        model.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            loss_fn(model(x), y).backward(torch.tensor(len(x) / samples, dtype=x.dtype, device=x.device))
        optimizer.step()
        scheduler.step()
    hook.remove()
    return rates
