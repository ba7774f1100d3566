"""Updates after every micro-batch, in evaluation mode."""

EXERCISE = "train_epoch"
MISTAKES = ("step-every", "eval-mode")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    model.eval()
    losses = []
    for x, y in micro_batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
