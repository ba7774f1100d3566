"""The loop of a widely used trainer: shares every N-th micro-batch, divides by N, and leaves the rest in .grad."""

STYLE = "a GPT trainer (nanoGPT)"
REPORT = "no report: its data never end, so that there is no leftover window"
SOURCE = "https://github.com/karpathy/nanoGPT/blob/master/train.py"
EXERCISE = "ddp_train_epoch"
MISTAKES = ("mean-of-means", "tail-stale")
LOST = ("leftover", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for i, (x, y) in enumerate(micro_batches):
        model.require_backward_grad_sync = (i + 1) % accumulation_steps == 0
        (loss_fn(model(x), y) / accumulation_steps).backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
