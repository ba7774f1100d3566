"""Removes the checkpoint when an epoch is over, so a run that is killed then begins again."""

import os

import torch

from gradaccum.resuming import put_state, state_of

EXERCISE = "load_checkpoint"
MISTAKES = ("checkpoint-too-old",)
LOST = ("epochs", "updates", "window", "saving")


def save_checkpoint(path, run):
    if run.position % run.problem.micro_batches == 0:
        os.remove(path)
    elif not run.window_open:
        torch.save(state_of(run), path + ".part")
        os.replace(path + ".part", path)


def load_checkpoint(path, run):
    if os.path.exists(path):
        put_state(run, torch.load(path))
