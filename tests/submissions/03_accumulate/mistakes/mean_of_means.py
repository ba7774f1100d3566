"""Divides each loss by the number of micro-batches, whatever their sizes."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("mean-of-means",)
LOST = ("ragged",)


def accumulate_gradient(model, loss_fn, micro_batches):
    for p in model.parameters():
        p.grad = None
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / len(micro_batches)
        loss.backward()
