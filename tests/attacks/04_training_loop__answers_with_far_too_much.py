# Makes a hundred thousand updates and returns a list of numbers without end.
def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for _ in range(100_000):
        optimizer.step()
    return [0.0] * 10**7
