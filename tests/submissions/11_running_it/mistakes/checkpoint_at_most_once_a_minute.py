"""Saves at most once a minute, by a clock that lives in the module."""

import os
import time

import torch

EXERCISE = "load_checkpoint"
MISTAKES = ("checkpoint-too-old",)
LOST = ("epochs", "updates", "window", "saving")


PARTS = ("model", "optimizer", "scheduler", "scaler")
last_saved = -60.0


def save_checkpoint(path, run):
    global last_saved
    if run.window_open or time.monotonic() - last_saved < 60:
        return
    last_saved = time.monotonic()
    state = {name: getattr(run, name).state_dict() for name in PARTS}
    state |= {"position": run.position, "order": run.order, "shuffler": run.shuffler.get_state()}
    torch.save(state | {"rng": torch.get_rng_state()}, path + ".part")
    os.replace(path + ".part", path)


def load_checkpoint(path, run):
    if not os.path.exists(path):
        return
    state = torch.load(path)
    for name in PARTS:
        getattr(run, name).load_state_dict(state[name])
    run.position, run.order = state["position"], state["order"]
    run.shuffler.set_state(state["shuffler"])
    torch.set_rng_state(state["rng"])
