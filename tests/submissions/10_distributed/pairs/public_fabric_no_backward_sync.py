"""Shares and updates whenever the iteration is a multiple of N; divides nothing."""

from contextlib import nullcontext

STYLE = "the documentation of a trainer (Lightning Fabric)"
REPORT = "no report: the flag of its example is off at iteration 0, so that the first batch makes an update"
SOURCE = "https://lightning.ai/docs/fabric/stable/advanced/gradient_accumulation.html"
EXERCISE = "ddp_train_epoch"
MISTAKES = ("off-by-one-early", "no-scale", "tail-stale")
LOST = ("full", "leftover")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for iteration, (inputs, target) in enumerate(micro_batches):
        is_accumulating = iteration % accumulation_steps != 0
        with model.no_sync() if is_accumulating else nullcontext():
            loss = loss_fn(model(inputs), target)
            loss.backward()
        if not is_accumulating:
            optimizer.step()
            optimizer.zero_grad()
