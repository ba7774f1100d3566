"""Zeroes every p.grad in place just before the update."""

EXERCISE = "train_epoch"
MISTAKES = ("zero-before-step",)
LOST = ("full", "leftover", "ragged", "stream", "clean")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, total, samples, count = [], 0.0, 0, 0

    def update():
        for p in model.parameters():
            if p.grad is not None:
                p.grad.zero_()
        optimizer.step()
        losses.append(total / samples)

    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        total, samples, count = total + loss.item(), samples + len(x), count + 1
        if count == accumulation_steps:
            update()
            total, samples, count = 0.0, 0, 0
    if count:
        update()
    return losses
