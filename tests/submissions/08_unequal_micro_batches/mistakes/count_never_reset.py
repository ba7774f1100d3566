"""One flat loop whose count of tokens is never set back."""

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ("tokens-not-reset",)
LOST = ("tokens", "leftover", "empty", "bare", "ignore", "losses")


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    means, total, tokens = [], 0.0, 0
    optimizer.zero_grad()
    for i, (x, t) in enumerate(micro_batches, 1):
        loss = F.cross_entropy(model(x).flatten(0, 1), t.flatten(), ignore_index=ignore_index, reduction="sum")
        loss.backward()
        total += loss.item()
        tokens += (t != ignore_index).sum().item()
        if i % accumulation_steps == 0:
            for p in model.parameters():
                if p.grad is not None:
                    p.grad /= max(tokens, 1)
            optimizer.step()
            optimizer.zero_grad()
            means.append(total / max(tokens, 1))
    if i % accumulation_steps:
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= max(tokens, 1)
        optimizer.step()
        means.append(total / max(tokens, 1))
    return means
