"""The loop found in most guides: loss over N, update and clear at every N-th step, no flush and no clear at the start."""

STYLE = "the loop of most guides (PET)"
REPORT = "some gradients are lost if N does not divide the number of batches"
SOURCE = "https://github.com/timoschick/pet/issues/36"
PREDICTED = ("tail-stale",)
EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "tail-stale")
LOST = ("leftover", "ragged", "clean", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, running = [], 0.0
    for step, (inputs, target) in enumerate(micro_batches):
        output = model(inputs)
        loss = loss_fn(output, target) / accumulation_steps
        loss.backward()
        running += loss.item()
        if (step + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
            losses.append(running)
            running = 0.0
    return losses
