"""Sets the flag between forward and backward."""

from itertools import islice

STYLE = "a GPT trainer before its repair (build-nanogpt)"
REPORT = "forward and backward both need the flag; as it was, the loss came out clearly worse"
SOURCE = "https://github.com/karpathy/build-nanogpt/pull/30"
PREDICTED = ("sync-wrong-one",)
EXERCISE = "ddp_train_epoch"
MISTAKES = ("sync-wrong-one", "mean-of-means")
LOST = ("full", "leftover", "ranks", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, grad_accum_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, grad_accum_steps)):
        optimizer.zero_grad()
        for micro_step, (x, y) in enumerate(window):
            loss = loss_fn(model(x), y)
            loss = loss / len(window)
            model.require_backward_grad_sync = micro_step == len(window) - 1
            loss.backward()
        optimizer.step()
