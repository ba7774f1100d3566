"""Remembers how far it has saved the run of this process."""

import os

import torch

EXERCISE = "load_checkpoint"

PARTS = ("model", "optimizer", "scheduler", "scaler")
last_saved = -1


def save_checkpoint(path, run):
    global last_saved
    if run.window_open or run.position <= last_saved:
        return
    last_saved = run.position
    state = {name: getattr(run, name).state_dict() for name in PARTS}
    state |= {"position": run.position, "order": run.order}
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
