"""Updates at every N-th step, and at the last one of an epoch that is shorter than N."""

STYLE = "a widely used trainer in 2021 (Transformers)"
REPORT = "only very short epochs make an update at their end; elsewhere the leftover is not applied and joins the next epoch"
SOURCE = "https://github.com/huggingface/transformers/issues/14309"
PREDICTED = ("tail-stale",)
EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "tail-stale", "tail-scale")
LOST = ("leftover", "ragged", "clean", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    steps_in_epoch = len(micro_batches) if hasattr(micro_batches, "__len__") else float("inf")
    losses, tr_loss = [], 0.0
    for step, (inputs, labels) in enumerate(micro_batches):
        loss = loss_fn(model(inputs), labels) / accumulation_steps
        loss.backward()
        tr_loss += loss.item()
        if (step + 1) % accumulation_steps == 0 or (steps_in_epoch <= accumulation_steps and (step + 1) == steps_in_epoch):
            optimizer.step()
            model.zero_grad()
            losses.append(tr_loss)
            tr_loss = 0.0
    return losses
