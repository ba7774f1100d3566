"""Adds up weighted by samples and divides .grad by the samples before it clips."""

from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_clipped"


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms, samples = [], 0
    optimizer.zero_grad()

    def apply():
        for p in model.parameters():
            p.grad /= samples
        norms.append(clip_grad_norm_(model.parameters(), max_norm))
        optimizer.step()
        optimizer.zero_grad()

    for i, (x, y) in enumerate(micro_batches, 1):
        (loss_fn(model(x), y) * len(x)).backward()
        samples += len(x)
        if i % accumulation_steps == 0:
            apply()
            samples = 0
    if samples:
        apply()
    return norms
