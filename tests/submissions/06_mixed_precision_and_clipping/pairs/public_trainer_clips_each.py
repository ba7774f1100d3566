"""Clips after every backward, divides by N and loses the leftover."""

from torch.nn.utils import clip_grad_norm_

STYLE = "the example scripts of a library in 2019 (Transformers)"
REPORT = "clipping belongs before the update, not after each backward"
SOURCE = "https://github.com/huggingface/transformers/issues/1563"
PREDICTED = ("clip-per-micro-batch",)
EXERCISE = "train_epoch_clipped"
MISTAKES = ("mean-of-means", "tail-stale", "clip-per-micro-batch")
LOST = ("bound", "idle", "norms")


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms = []
    for step, (inputs, labels) in enumerate(micro_batches):
        loss = loss_fn(model(inputs), labels)
        if accumulation_steps > 1:
            loss = loss / accumulation_steps
        loss.backward()
        norm = clip_grad_norm_(model.parameters(), max_norm)
        if (step + 1) % accumulation_steps == 0:
            optimizer.step()
            model.zero_grad()
            norms.append(norm.item())
    return norms
