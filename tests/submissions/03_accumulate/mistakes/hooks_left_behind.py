"""Scales gradients in hooks that it never removes, so a second call scales twice."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal", "clean")


def accumulate_gradient(model, loss_fn, micro_batches):
    share = 1.0
    for p in model.parameters():
        if p.requires_grad:
            p.register_hook(lambda gradient: gradient * share)
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        share = len(x) / samples
        loss_fn(model(x), y).backward()
