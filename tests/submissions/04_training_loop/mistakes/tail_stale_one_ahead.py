"""Reads one micro-batch ahead to weigh by size, updates full windows only and leaves the rest in .grad."""

EXERCISE = "train_epoch"
MISTAKES = ("tail-stale",)
LOST = ("leftover", "clean")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, window = [], []
    stream = iter(micro_batches)
    item = next(stream, None)
    while item is not None:
        window.append(item)
        item = next(stream, None)
        if len(window) == accumulation_steps or item is None:
            samples = sum(len(x) for x, _ in window)
            terms = []
            for x, y in window:
                term = loss_fn(model(x), y) * len(x) / samples
                term.backward()
                terms.append(term.item())
            if len(window) == accumulation_steps:
                optimizer.step()
                for p in model.parameters():
                    p.grad = None
            losses.append(sum(terms))
            window = []
    return losses
