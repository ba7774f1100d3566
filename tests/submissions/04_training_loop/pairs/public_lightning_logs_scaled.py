"""Updates at every N-th batch and at the last one; logs the loss that went backward."""

STYLE = "a trainer with closures (Lightning)"
REPORT = "the logged loss is divided by N"
SOURCE = "https://github.com/Lightning-AI/pytorch-lightning/issues/2569"
PREDICTED = ("loss-scaled-in-log",)
EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "tail-scale", "loss-of-last", "loss-scaled-in-log")
LOST = ("leftover", "ragged", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulate_grad_batches):
    logged, batches = [], iter(micro_batches)
    batch, batch_idx = next(batches, None), 0
    while batch is not None:
        upcoming = next(batches, None)
        if batch_idx % accumulate_grad_batches == 0:
            optimizer.zero_grad()

        def closure(batch=batch):
            loss = loss_fn(model(batch[0]), batch[1]) / accumulate_grad_batches
            loss.backward()
            return loss.detach()

        if (batch_idx + 1) % accumulate_grad_batches == 0 or upcoming is None:
            logged.append(optimizer.step(closure))
        else:
            closure()
        batch, batch_idx = upcoming, batch_idx + 1
    return logged
