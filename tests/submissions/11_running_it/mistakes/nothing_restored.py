"""Loads the checkpoint and does nothing with it."""

import os

import torch

EXERCISE = "load_checkpoint"
MISTAKES = ("nothing-restored",)
LOST = ("epochs", "updates", "window", "start", "saving")


def save_checkpoint(path, run):
    if run.window_open:
        return
    state = {
        "model": run.model.state_dict(),
        "optimizer": run.optimizer.state_dict(),
        "scheduler": run.scheduler.state_dict(),
        "scaler": run.scaler.state_dict(),
        "position": run.position,
        "order": run.order,
        "shuffler": run.shuffler.get_state(),
        "rng": torch.get_rng_state(),
    }
    torch.save(state, path + ".part")
    os.replace(path + ".part", path)


def load_checkpoint(path, run):
    if os.path.exists(path):
        torch.load(path)
