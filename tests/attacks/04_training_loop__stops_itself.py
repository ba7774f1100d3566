# Stops without ending, as if waiting for somebody to continue it.
import os
import signal


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    os.kill(os.getpid(), signal.SIGSTOP)
    return []
