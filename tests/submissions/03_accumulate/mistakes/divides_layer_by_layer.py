"""Divides .grad module by module in the end, so that of a parameter two modules share is divided twice."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("ragged",)


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x)).backward()
    total = sum(len(x) for x, _ in micro_batches)
    for module in model.modules():
        for p in module.parameters(recurse=False):
            if p.grad is not None:
                p.grad /= total
