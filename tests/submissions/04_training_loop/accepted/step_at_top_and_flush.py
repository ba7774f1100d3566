"""Updates at the top of the loop when the window before it is full, and once more after the loop."""

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, sums, sizes = [], [], []

    def flush():
        if not sizes:
            return
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad = p.grad / sum(sizes)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(sum(sums) / sum(sizes))
        sums.clear()
        sizes.clear()

    optimizer.zero_grad()
    for x, y in micro_batches:
        if len(sizes) == accumulation_steps:
            flush()
        loss_sum = loss_fn(model(x), y) * len(x)
        loss_sum.backward()
        sums.append(loss_sum.item())
        sizes.append(len(x))
    flush()
    return losses
