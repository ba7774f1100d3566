"""Switches the model to evaluation mode to save it, and not back."""

import os

import torch

EXERCISE = "load_checkpoint"
MISTAKES = ("saving-disturbs",)
LOST = ("updates",)

OBJECTS = ("model", "optimizer", "scheduler", "scaler")


def save_checkpoint(path, run):
    if run.window_open:
        return
    run.model.eval()
    state = {name: getattr(run, name).state_dict() for name in OBJECTS}
    state |= {"position": run.position, "order": run.order, "shuffler": run.shuffler.get_state(), "rng": torch.get_rng_state()}
    torch.save(state, path + ".new")
    os.replace(path + ".new", path)


def load_checkpoint(path, run):
    if not os.path.exists(path):
        return
    state = torch.load(path)
    for name in OBJECTS:
        getattr(run, name).load_state_dict(state[name])
    run.position, run.order = state["position"], state["order"]
    run.shuffler.set_state(state["shuffler"])
    torch.set_rng_state(state["rng"])
