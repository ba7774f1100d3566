"""The last window is divided by what it holds; micro-batches weigh alike."""

from itertools import islice

STYLE = "an image trainer (timm)"
REPORT = "no report: the last window is divided by what it holds; micro-batches are taken to have one size"
SOURCE = "https://github.com/huggingface/pytorch-image-models/blob/main/train.py"
EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means",)
LOST = ("ragged",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream, losses = iter(micro_batches), []
    upcoming = list(islice(stream, accumulation_steps))
    while upcoming:
        window, upcoming = upcoming, list(islice(stream, accumulation_steps))
        accum_steps = accumulation_steps if upcoming else len(window)
        optimizer.zero_grad()
        total = count = 0
        for i, (inputs, target) in enumerate(window):
            need_update = (i + 1) % accum_steps == 0
            loss = loss_fn(model(inputs), target)
            total, count = total + loss.item() * len(inputs), count + len(inputs)
            (loss / accum_steps).backward()
            if need_update:
                optimizer.step()
        losses.append(total / count)
    return losses
