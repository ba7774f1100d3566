"""Counts the tokens of N batches first and divides the sum of their losses by that number, whatever it is."""

import torch
from torch.nn import functional as F

STYLE = "a token-counting trainer after its repair (Transformers, NeMo)"
REPORT = "a batch without a single token to learn from divides 0 by 0"
SOURCE = "https://github.com/NVIDIA-NeMo/Automodel/issues/3796"
PREDICTED = ("empty-window-is-nan",)
EXERCISE = "train_epoch_tokens"
MISTAKES = ("empty-window-is-nan",)
LOST = ("bare",)


def get_batch_samples(iterator, num_batches, ignore_index):
    batch_samples = []
    for _ in range(num_batches):
        try:
            batch_samples.append(next(iterator))
        except StopIteration:
            break
    num_items_in_batch = sum((labels.ne(ignore_index).sum() for _, labels in batch_samples), torch.tensor(0))
    return batch_samples, num_items_in_batch


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    epoch_iterator, losses = iter(micro_batches), []
    while True:
        batch_samples, num_items_in_batch = get_batch_samples(epoch_iterator, accumulation_steps, ignore_index)
        if not batch_samples:
            return losses
        model.zero_grad()
        tr_loss = 0.0
        for input_ids, labels in batch_samples:
            logits = model(input_ids)
            loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=ignore_index, reduction="sum")
            loss = loss / num_items_in_batch
            loss.backward()
            tr_loss += loss.item()
        optimizer.step()
        model.zero_grad()
        losses.append(tr_loss)
