"""The number of tokens is counted and handed over; the model's loss takes no notice, and nobody divides by N."""

from itertools import islice

from torch.nn import functional as F

STYLE = "a token-counting trainer whose model ignores the count (Transformers)"
REPORT = "the loss is divided by the tokens of one forward only, and grows with the number of accumulation steps"
SOURCE = "https://github.com/huggingface/transformers/issues/37766"
PREDICTED = ("no-scale",)
EXERCISE = "train_epoch_tokens"
MISTAKES = ("no-scale", "empty-is-nan")
LOST = ("tokens", "leftover", "empty", "bare", "ignore", "losses")


def compute_loss(model, input_ids, labels, ignore_index, num_items_in_batch):
    return F.cross_entropy(model(input_ids).flatten(0, 1), labels.flatten(), ignore_index=ignore_index)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    epoch_iterator, losses = iter(micro_batches), []
    while batch_samples := list(islice(epoch_iterator, accumulation_steps)):
        num_items_in_batch = sum(labels.ne(ignore_index).sum() for _, labels in batch_samples)
        model.zero_grad()
        tr_loss = 0.0
        for input_ids, labels in batch_samples:
            loss = compute_loss(model, input_ids, labels, ignore_index, num_items_in_batch)
            loss.backward()
            tr_loss += loss.item()
        optimizer.step()
        losses.append(tr_loss)
    return losses
