"""Copies the old checkpoint aside before it writes over it, and tries both."""

import os
import shutil

import torch

EXERCISE = "load_checkpoint"


PARTS = ("model", "optimizer", "scheduler", "scaler")


def save_checkpoint(path, run):
    if run.window_open:
        return
    state = {name: getattr(run, name).state_dict() for name in PARTS}
    state |= {"position": run.position, "order": run.order}
    state |= {"shuffler": run.shuffler.get_state(), "rng": torch.get_rng_state()}
    if os.path.exists(path):
        shutil.copy(path, path + ".bak")
    torch.save(state, path)


def load_checkpoint(path, run):
    state = None
    for name in (path + ".bak", path):
        try:
            state = torch.load(name)
        except Exception:
            continue
    if state is None:
        return
    for name in PARTS:
        getattr(run, name).load_state_dict(state[name])
    run.position, run.order = state["position"], state["order"]
    run.shuffler.set_state(state["shuffler"])
    torch.set_rng_state(state["rng"])
