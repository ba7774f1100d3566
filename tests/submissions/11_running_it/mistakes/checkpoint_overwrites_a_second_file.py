"""Replaces its checkpoint in one step, but writes the random state over that of the checkpoint before, in another file."""

import os

import torch

EXERCISE = "load_checkpoint"
MISTAKES = ("checkpoint-overwritten",)
LOST = ("saving",)

OBJECTS = ("model", "optimizer", "scheduler", "scaler")


def save_checkpoint(path, run):
    if run.window_open:
        return
    state = {name: getattr(run, name).state_dict() for name in OBJECTS}
    state["position"] = run.position
    state["order"] = run.order
    state["shuffler"] = run.shuffler.get_state()
    torch.save(state, path + ".new")
    torch.save(torch.get_rng_state(), path + ".rng")
    os.replace(path + ".new", path)


def load_checkpoint(path, run):
    if not os.path.exists(path):
        return
    state = torch.load(path)
    for name in OBJECTS:
        getattr(run, name).load_state_dict(state[name])
    run.position = state["position"]
    run.order = state["order"]
    run.shuffler.set_state(state["shuffler"])
    torch.set_rng_state(torch.load(path + ".rng"))
