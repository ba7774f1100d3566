# Prints 100 MB in every way there is, while it is loaded and in a function.
import os
import sys

for _ in range(50):
    print("x" * 2**20)
    sys.stderr.write("x" * 2**20)
    sys.__stdout__ and sys.__stdout__.write("x" * 2**20)
    os.write(1, b"x" * 2**20)
    os.write(2, b"x" * 2**20)
print("\x1b[2J\x1b]0;title\x07\u202e")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for _ in range(50):
        print("x" * 2**20)
        os.write(1, b"x" * 2**20)
        os.write(2, b"x" * 2**20)
    return []
