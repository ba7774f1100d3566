"""Clips well, divides each loss by N, and loses the leftover."""

from torch.nn.utils import clip_grad_norm_

STYLE = "a trainer with the loop of most guides (mlx-lm)"
REPORT = "the last window makes no update unless N divides the epoch, and micro-batches weigh alike"
SOURCE = "https://github.com/ml-explore/mlx-lm/pull/1413"
PREDICTED = ("mean-of-means", "tail-stale")
EXERCISE = "train_epoch_clipped"
MISTAKES = ("mean-of-means", "tail-stale")
LOST = ("bound", "idle", "norms")


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms = []
    for i, (x, y) in enumerate(micro_batches):
        (loss_fn(model(x), y) / accumulation_steps).backward()
        if (i + 1) % accumulation_steps == 0:
            norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
            optimizer.step()
            optimizer.zero_grad()
    return norms
