"""Keeps two files, those whose numbers come last as texts."""

import glob
import os

import torch

from gradaccum.resuming import put_state, state_of

EXERCISE = "load_checkpoint"
MISTAKES = ("checkpoint-too-old",)
LOST = ("epochs", "updates", "window", "saving")


def save_checkpoint(path, run):
    if not run.window_open:
        torch.save(state_of(run), path + "~")
        os.replace(path + "~", f"{path}.{run.position}")
        for old in sorted(glob.glob(f"{path}.*"))[:-2]:
            os.remove(old)


def load_checkpoint(path, run):
    if files := glob.glob(f"{path}.*"):
        put_state(run, torch.load(max(files, key=lambda name: int(name.rpartition(".")[2]))))
