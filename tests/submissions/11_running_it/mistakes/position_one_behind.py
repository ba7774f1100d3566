"""Saves the number of the last micro-batch, not of the next one."""

import os

import torch

EXERCISE = "load_checkpoint"
MISTAKES = ("state-missing-position",)
LOST = ("epochs", "updates", "window", "saving")

PARTS = ("model", "optimizer", "scheduler", "scaler")


def save_checkpoint(path, run):
    if run.window_open:
        return
    state = {name: getattr(run, name).state_dict() for name in PARTS}
    state |= {"position": run.position - 1, "order": run.order}
    state |= {"shuffler": run.shuffler.get_state(), "rng": torch.get_rng_state()}
    torch.save(state, path + ".part")
    os.replace(path + ".part", path)


def load_checkpoint(path, run):
    if os.path.exists(path):
        state = torch.load(path)
        for name in PARTS:
            getattr(run, name).load_state_dict(state[name])
        run.position, run.order = state["position"], state["order"]
        run.shuffler.set_state(state["shuffler"])
        torch.set_rng_state(state["rng"])
