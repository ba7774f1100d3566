"""The same tutorial's corrected loop: it still lacks the scale and loses the leftover."""

STYLE = "a tutorial's loops as corrected"
REPORT = "moving step and clear is not enough: nothing divides by N"
SOURCE = "claims 7"
PREDICTED = ("no-scale",)
EXERCISE = "train_epoch"
MISTAKES = ("no-scale", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    optimizer.zero_grad()
    for i, (inputs, target) in enumerate(micro_batches):
        output = model(inputs)
        loss = loss_fn(output, target)
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    return losses
