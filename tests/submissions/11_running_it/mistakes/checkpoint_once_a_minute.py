"""Writes a checkpoint only if the one before it is older than a minute."""

import os
import time

import torch

from gradaccum.resuming import put_state, state_of

EXERCISE = "load_checkpoint"
MISTAKES = ("checkpoint-too-old",)
LOST = ("epochs", "updates", "window", "saving")


def save_checkpoint(path, run):
    young = os.path.exists(path) and time.time() - os.path.getmtime(path) < 60
    if not run.window_open and not young:
        torch.save(state_of(run), path + "~")
        os.replace(path + "~", path)


def load_checkpoint(path, run):
    if os.path.exists(path):
        put_state(run, torch.load(path))
