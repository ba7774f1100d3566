# Takes memory until there is none: up to 3 GB.
def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    taken = [bytearray(2**28) for _ in range(12)]
    return [len(taken)]
