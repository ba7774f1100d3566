"""Leaves out a last micro-batch that is smaller than the first, as drop_last does."""

EXERCISE = "accumulate_gradient"
MISTAKES = ("micro-batch-left-out",)
LOST = ("ragged",)


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    mb = list(micro_batches)
    if len(mb) > 1 and len(mb[-1][0]) < len(mb[0][0]):
        mb.pop()
    total = sum(len(x) for x, _ in mb)
    for x, y in mb:
        (loss_fn(model(x), y) * len(x) / total).backward()
