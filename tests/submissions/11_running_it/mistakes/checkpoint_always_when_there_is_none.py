"""Writes in the middle of a window if nothing has been written yet."""

import os

import torch

EXERCISE = "load_checkpoint"
MISTAKES = ("mid-window-checkpoint",)
LOST = ("window",)


def save_checkpoint(path, run):
    if run.window_open and os.path.exists(path):
        return
    state = {name: getattr(run, name).state_dict() for name in ("model", "optimizer", "scheduler", "scaler")}
    state["position"] = run.position
    state["order"] = run.order
    state["shuffler"] = run.shuffler.get_state()
    state["rng"] = torch.get_rng_state()
    torch.save(state, path + ".new")
    os.replace(path + ".new", path)


def load_checkpoint(path, run):
    if not os.path.exists(path):
        return
    state = torch.load(path)
    for name in ("model", "optimizer", "scheduler", "scaler"):
        getattr(run, name).load_state_dict(state[name])
    run.position = state["position"]
    run.order = state["order"]
    run.shuffler.set_state(state["shuffler"])
    torch.set_rng_state(state["rng"])
