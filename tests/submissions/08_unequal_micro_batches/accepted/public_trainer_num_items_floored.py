"""Counts the tokens of N batches first, at least 1, and divides the sum of their losses by that number."""

from itertools import islice

from torch.nn import functional as F

STYLE = "a token-counting trainer after its repairs (Transformers, Unsloth)"
REPORT = "a sum over tokens divided by the tokens of all N batches; the count has a floor of 1"
SOURCE = "https://github.com/unslothai/unsloth-zoo/pull/1286"
EXERCISE = "train_epoch_tokens"


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    epoch_iterator, losses = iter(micro_batches), []
    while batch_samples := list(islice(epoch_iterator, accumulation_steps)):
        num_items_in_batch = sum(labels.ne(ignore_index).sum() for _, labels in batch_samples).clamp(min=1)
        model.zero_grad()
        tr_loss = 0.0
        for input_ids, labels in batch_samples:
            loss = F.cross_entropy(model(input_ids).mT, labels, ignore_index=ignore_index, reduction="sum")
            loss = loss / num_items_in_batch
            loss.backward()
            tr_loss += loss.item()
        optimizer.step()
        losses.append(tr_loss)
    return losses
