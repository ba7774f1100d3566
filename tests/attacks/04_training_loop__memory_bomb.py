# Takes memory until there is none, first in large and then in small pieces: up to 1.5 GB, once.
taken = []


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    try:
        for _ in range(6) if not taken else ():
            taken.append(bytearray(2**28))
    except MemoryError:
        for _ in range(2**16):
            taken.append(bytearray(2**12))
    return [len(taken)]
