"""Writes with pickle, and reads with torch.load."""

import os
import pickle

import torch

EXERCISE = "load_checkpoint"
MISTAKES = ("file-of-another-kind",)
LOST = ("epochs", "updates", "window", "saving")

PARTS = ("model", "optimizer", "scheduler", "scaler")


def save_checkpoint(path, run):
    if run.window_open:
        return
    state = {name: getattr(run, name).state_dict() for name in PARTS}
    state |= {"position": run.position, "order": run.order}
    state |= {"shuffler": run.shuffler.get_state(), "rng": torch.get_rng_state()}
    with open(path + ".part", "wb") as file:
        pickle.dump(state, file)
    os.replace(path + ".part", path)


def load_checkpoint(path, run):
    if os.path.exists(path):
        state = torch.load(path)
        for name in PARTS:
            getattr(run, name).load_state_dict(state[name])
        run.position, run.order = state["position"], state["order"]
        run.shuffler.set_state(state["shuffler"])
        torch.set_rng_state(state["rng"])
