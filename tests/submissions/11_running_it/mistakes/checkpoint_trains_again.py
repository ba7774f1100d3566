"""Keeps the number of micro-batches only, and trains another run up to there to copy its state."""

import os

from gradaccum.resuming import put_state, state_of

EXERCISE = "load_checkpoint"
MISTAKES = ("state-missing-model", "state-missing-optimizer")
LOST = ("epochs", "updates", "window", "saving")


def save_checkpoint(path, run):
    if not run.window_open:
        with open(path + ".part", "w") as file:
            file.write(str(run.position))
        os.replace(path + ".part", path)


def load_checkpoint(path, run):
    if os.path.exists(path):
        other = run.problem.start()
        with open(path) as file:
            position = int(file.read())
        while other.position < position:
            other.train_micro_batch()
        put_state(run, state_of(other))
