# Starts 200 threads, each for at most 2 seconds.
import threading
import time


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for _ in range(200):
        threading.Thread(target=time.sleep, args=(2,), daemon=True).start()
    return []
