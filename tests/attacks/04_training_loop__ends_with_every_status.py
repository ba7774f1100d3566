# Ends the process with a status that its parents use for something else, and by a signal of its own.
import os
import signal


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    os._exit(255)


def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    os._exit(137)


def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    os.kill(os.getpid(), signal.SIGRTMAX)
