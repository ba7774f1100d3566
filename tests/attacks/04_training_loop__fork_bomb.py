# Starts processes that start processes: 200 in all, each for at most 3 seconds.
import os
import time


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for _ in range(200):
        try:
            if os.fork() == 0:
                time.sleep(3)
                os._exit(0)
        except OSError:
            break
    time.sleep(0.5)
    return []
