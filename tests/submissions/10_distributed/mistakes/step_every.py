"""Updates after every micro-batch."""

EXERCISE = "ddp_train_epoch"
MISTAKES = ("step-every",)
LOST = ("full", "leftover", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for x, y in micro_batches:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()
