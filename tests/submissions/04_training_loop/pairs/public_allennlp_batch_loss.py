"""Divides by the size of the group, and reports the last of the losses so divided."""

from itertools import islice

STYLE = "a trainer that works on groups of batches (AllenNLP)"
REPORT = "the reported loss is that of the last batch of a group, divided by the size of the group"
SOURCE = "https://github.com/allenai/allennlp/pull/4706"
PREDICTED = ("loss-of-last", "loss-scaled-in-log")
EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "loss-of-last", "loss-scaled-in-log")
LOST = ("ragged", "losses")


def lazy_groups_of(iterable, group_size):
    iterator = iter(iterable)
    while group := list(islice(iterator, group_size)):
        yield group


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    metrics = []
    for batch_group in lazy_groups_of(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for inputs, target in batch_group:
            loss = loss_fn(model(inputs), target) / len(batch_group)
            loss.backward()
            batch_loss = loss.item()
        optimizer.step()
        metrics.append(batch_loss)
    optimizer.zero_grad()
    return metrics
