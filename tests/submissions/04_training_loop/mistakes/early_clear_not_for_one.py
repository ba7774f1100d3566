"""Clears before the micro-batch that is number 1 modulo N, which none is for N = 1."""

EXERCISE = "repaired_early_clear"
MISTAKES = ()
LOST = ("repaired",)


def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for i, (x, y) in enumerate(micro_batches, 1):
        if i % accumulation_steps == 1:
            optimizer.zero_grad()
        (loss_fn(model(x), y) / accumulation_steps).backward()
        if i % accumulation_steps == 0:
            optimizer.step()
