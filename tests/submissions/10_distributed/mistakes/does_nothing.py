"""Does nothing at all, on any rank."""

EXERCISE = "ddp_train_epoch"
MISTAKES = ()
LOST = ("full", "leftover", "ranks", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    return None
