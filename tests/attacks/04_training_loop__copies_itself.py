# Goes on as two processes, each of which marks the rest.
import os

os.fork()


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    os.fork()
    return []
