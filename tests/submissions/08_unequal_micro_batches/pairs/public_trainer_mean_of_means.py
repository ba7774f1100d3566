"""In the style of a public trainer before its repair: the mean loss over N, updates at every Nth micro-batch."""

from torch.nn import functional as F

STYLE = "a widely used trainer until October 2024 (Transformers)"
REPORT = "losses with and without accumulation differ when sequences have different lengths"
SOURCE = "https://github.com/huggingface/transformers/pull/34191"
PREDICTED = ("token-mean-of-means",)
EXERCISE = "train_epoch_tokens"
MISTAKES = ("token-mean-of-means", "tail-stale", "empty-is-nan")
LOST = ("tokens", "leftover", "empty", "bare", "ignore", "losses")


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    losses, running = [], 0.0
    for step, (x, targets) in enumerate(micro_batches):
        logits = model(x)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=ignore_index)
        loss = loss / accumulation_steps
        loss.backward()
        running += loss.item()
        if (step + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
            losses.append(running)
            running = 0.0
    return losses
