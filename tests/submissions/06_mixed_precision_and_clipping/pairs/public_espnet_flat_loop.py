"""Divides by N, updates at every N-th batch, and clears only after an update that was made."""

import torch

STYLE = "a speech trainer, loop and all (ESPnet)"
REPORT = "gradients are not cleared when they are not finite, which spoils all that follows"
SOURCE = "https://github.com/espnet/espnet/pull/3283"
PREDICTED = ("inf-not-cleared",)
EXERCISE = "train_epoch_amp"
MISTAKES = ("inf-not-cleared", "mean-of-means", "tail-stale")
LOST = ("update", "clip", "inf")


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accum_grad, grad_clip, dtype):
    norms = []
    for iiter, (speech, text) in enumerate(micro_batches, 1):
        with torch.autocast(speech.device.type, dtype=dtype):
            loss = loss_fn(model(speech), text)
        loss /= accum_grad
        scaler.scale(loss).backward()
        if iiter % accum_grad == 0:
            scaler.unscale_(optimizer)
            grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=grad_clip)
            norms.append(grad_norm.item())
            scaler.step(optimizer)
            scaler.update()
            if torch.isfinite(grad_norm):
                optimizer.zero_grad()
    return norms
