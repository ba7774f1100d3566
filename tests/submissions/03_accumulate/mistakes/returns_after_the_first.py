"""Returns after the first micro-batch."""

EXERCISE = "accumulate_gradient"
MISTAKES = ()
LOST = ("equal", "ragged", "clean", "memory")
SAYS = ("Micro-batches 2 to 5 are not in .grad.",)


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
        return
