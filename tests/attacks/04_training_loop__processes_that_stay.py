# Starts a daemon with a session and parents of its own, which keeps the socket open and waits for the next submission.
import os
import time


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for _ in range(100):
                time.sleep(0.1)
                with open("/tmp/left_by_an_attack", "w") as file:
                    file.write("still here")
        os._exit(0)
    return []
