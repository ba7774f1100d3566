"""Weighs micro-batches alike, and adds .grad to its sums without clearing it in between."""

EXERCISE = "accumulate_in_float32"
MISTAKES = ("mean-of-means", "gradients-pile-up")
LOST = ("sums", "ragged")


def accumulate_in_float32(model, loss_fn, micro_batches):
    totals = {}
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
        for name, p in model.named_parameters():
            totals[name] = totals.get(name, 0) + p.grad.float()
    return totals
