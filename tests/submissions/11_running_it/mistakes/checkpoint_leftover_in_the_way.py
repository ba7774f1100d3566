"""Cannot save any more once a kill has left a file with the temporary name."""

import os

import torch

EXERCISE = "load_checkpoint"
MISTAKES = ()
LOST = ("saving",)


PARTS = ("model", "optimizer", "scheduler", "scaler")


def state_of(run):
    state = {name: getattr(run, name).state_dict() for name in PARTS}
    state |= {"position": run.position, "order": run.order}
    return state | {"shuffler": run.shuffler.get_state(), "rng": torch.get_rng_state()}


def put(state, run):
    for name in PARTS:
        getattr(run, name).load_state_dict(state[name])
    run.position, run.order = state["position"], state["order"]
    run.shuffler.set_state(state["shuffler"])
    torch.set_rng_state(state["rng"])


def save_checkpoint(path, run):
    if not run.window_open:
        with open(path + ".part", "xb") as file:
            torch.save(state_of(run), file)
        os.replace(path + ".part", path)


def load_checkpoint(path, run):
    if os.path.exists(path):
        put(torch.load(path), run)
