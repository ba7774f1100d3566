"""Scales gradients in tensor hooks that live as long as the call."""

EXERCISE = "accumulate_gradient"


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        weight = len(x) / samples
        handles = [p.register_hook(lambda g, w=weight: w * g) for p in model.parameters() if p.requires_grad]
        loss_fn(model(x), y).backward()
        for handle in handles:
            handle.remove()
