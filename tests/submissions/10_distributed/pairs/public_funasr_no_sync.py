"""Shares at multiples of N and updates one batch before them."""

from contextlib import nullcontext

STYLE = "a speech trainer before its repair (FunASR)"
REPORT = (
    "the first batch of a window is synchronized and the one that makes the update is not, which leaves gradients of one rank"
)
SOURCE = "https://github.com/modelscope/FunASR/pull/3472"
PREDICTED = ("sync-wrong-one",)
EXERCISE = "ddp_train_epoch"
MISTAKES = ("sync-wrong-one", "mean-of-means", "tail-stale")
LOST = ("full", "leftover", "ranks", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accum_grad):
    for batch_idx, (x, y) in enumerate(micro_batches):
        my_context = nullcontext if batch_idx % accum_grad == 0 else model.no_sync
        with my_context():
            loss = loss_fn(model(x), y) / accum_grad
            loss.backward()
        if (batch_idx + 1) % accum_grad == 0:
            optimizer.step()
            optimizer.zero_grad()
