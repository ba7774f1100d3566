"""Fetches a window and counts its tokens before the first backward.

Adds up sums of token losses and divides `.grad` by the tokens seen when the window ends.
"""

from torch.nn import functional as F


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    losses, total, tokens, seen = [], 0.0, 0, 0

    def update():
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad /= max(1, tokens)
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        losses.append(total / max(1, tokens))

    optimizer.zero_grad()
    for seen, (x, targets) in enumerate(micro_batches, 1):
        loss = F.cross_entropy(model(x).transpose(1, 2), targets, ignore_index=ignore_index, reduction="sum")
        loss.backward()
        total += float(loss)
        tokens += int(targets.ne(ignore_index).sum())
        if seen % accumulation_steps == 0:
            update()
            total, tokens = 0.0, 0
    if seen % accumulation_steps:
        update()
    return losses
