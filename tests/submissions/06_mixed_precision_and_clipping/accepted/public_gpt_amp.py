"""Fetches ahead, shares the loss out by samples, and unscales before it clips."""

from itertools import islice

import torch

STYLE = "a GPT trainer (nanoGPT)"
REPORT = "the loss has to be divided by N before it is scaled, as PyTorch's example does"
SOURCE = "https://github.com/karpathy/nanoGPT/pull/207"
EXERCISE = "train_epoch_amp"


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, gradient_accumulation_steps, grad_clip, dtype):
    batches, norms = iter(micro_batches), []
    pending = list(islice(batches, gradient_accumulation_steps))
    optimizer.zero_grad(set_to_none=True)
    while pending:
        samples = sum(x.size(0) for x, _ in pending)
        for micro_step, (x, y) in enumerate(pending):
            with torch.amp.autocast(device_type=x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) * x.size(0) / samples
            if micro_step == len(pending) - 1:
                following = list(islice(batches, gradient_accumulation_steps))
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip).item())
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        pending = following
    return norms
