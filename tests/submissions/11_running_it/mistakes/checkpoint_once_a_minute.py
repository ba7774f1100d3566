"""Writes a checkpoint only if the one before it is older than a minute."""

import os
import time

import torch

EXERCISE = "load_checkpoint"
MISTAKES = ("checkpoint-too-old",)
LOST = ("epochs", "updates", "window", "saving")


NAMES = ("model", "optimizer", "scheduler", "scaler")


def save_checkpoint(path, run):
    if run.window_open:
        return
    if os.path.exists(path) and time.time() - os.path.getmtime(path) < 60:
        return
    state = {name: getattr(run, name).state_dict() for name in NAMES}
    state["position"] = run.position
    state["order"] = run.order
    state["shuffler"] = run.shuffler.get_state()
    state["rng"] = torch.get_rng_state()
    torch.save(state, path + ".part")
    os.replace(path + ".part", path)


def load_checkpoint(path, run):
    if not os.path.exists(path):
        return
    state = torch.load(path)
    for name in NAMES:
        getattr(run, name).load_state_dict(state[name])
    run.position = state["position"]
    run.order = state["order"]
    run.shuffler.set_state(state["shuffler"])
    torch.set_rng_state(state["rng"])
