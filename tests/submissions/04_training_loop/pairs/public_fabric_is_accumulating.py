"""Accumulates unless the iteration is a multiple of N; divides nothing."""

STYLE = "the documentation of a trainer (Lightning Fabric)"
REPORT = "no report: the flag of its example is off at iteration 0, so that the first batch makes an update"
SOURCE = "https://lightning.ai/docs/fabric/stable/advanced/gradient_accumulation.html"
EXERCISE = "train_epoch"
MISTAKES = ("off-by-one-early", "no-scale", "tail-stale")
LOST = ("full", "leftover", "ragged", "stream", "clean", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for iteration, (inputs, target) in enumerate(micro_batches):
        is_accumulating = iteration % accumulation_steps != 0
        output = model(inputs)
        loss = loss_fn(output, target)
        loss.backward()
        if not is_accumulating:
            losses.append(loss.item())
            optimizer.step()
            optimizer.zero_grad()
    return losses
