"""Adds up sums over tokens, then multiplies the gradients by one over the sample size."""

from torch.nn.functional import cross_entropy

STYLE = "a translation trainer (fairseq)"
REPORT = "gradients are normalized by the number of tokens, once per update"
SOURCE = "https://github.com/facebookresearch/fairseq/issues/2192"
EXERCISE = "train_epoch_tokens"


def grouped(iterator, chunk_size):
    chunk = []
    for sample in iterator:
        chunk.append(sample)
        if len(chunk) == chunk_size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def multiply_grads(optimizer, factor):
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                parameter.grad.mul_(factor)


def train_epoch_tokens(model, optimizer, micro_batches, update_freq, ignore_index=-100):
    logs = []
    for samples in grouped(micro_batches, update_freq):
        model.train()
        optimizer.zero_grad()
        sample_size, logging_loss = 0, 0.0
        for net_input, target in samples:
            loss = cross_entropy(model(net_input).flatten(0, 1), target.view(-1), ignore_index=ignore_index, reduction="sum")
            loss.backward()
            sample_size += int((target != ignore_index).sum())
            logging_loss += loss.item()
        if sample_size > 0:
            multiply_grads(optimizer, 1 / sample_size)
            optimizer.step()
        logs.append(logging_loss / max(sample_size, 1))
    return logs
