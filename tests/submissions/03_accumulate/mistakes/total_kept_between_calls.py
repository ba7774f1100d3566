"""Counts the samples of all calls, in the default value of an argument."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal", "ragged", "clean", "memory")
SAYS = ("At the first call .grad holds the right gradient", "Your code changes the default value of the argument 'seen', so")


def accumulate_gradient(model, loss_fn, micro_batches, seen=[]):
    model.zero_grad()
    for x, _ in micro_batches:
        seen.append(len(x))
    total = sum(seen)
    for x, y in micro_batches:
        (loss_fn(model(x), y) * len(x) / total).backward()
