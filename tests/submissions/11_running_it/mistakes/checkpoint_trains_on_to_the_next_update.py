"""Trains on to the next update after loading, and keeps the losses to itself."""

import os

import torch

from gradaccum.resuming import put_state, state_of

EXERCISE = "load_checkpoint"
MISTAKES = ()
LOST = ("epochs", "updates", "window", "saving")
SAYS = ("Your load_checkpoint itself trains, and the resumed run has less left to do than it should.",)


def save_checkpoint(path, run):
    if not run.window_open:
        torch.save(state_of(run), path + ".part")
        os.replace(path + ".part", path)


def load_checkpoint(path, run):
    if os.path.exists(path):
        put_state(run, torch.load(path))
        if run.position < run.problem.total:
            run.train_micro_batch()
        while run.window_open:
            run.train_micro_batch()
