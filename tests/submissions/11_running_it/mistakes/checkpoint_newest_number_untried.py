"""Numbers its checkpoints and takes the newest, whole or not."""

import os

import torch

EXERCISE = "load_checkpoint"
MISTAKES = ("checkpoint-overwritten",)
LOST = ("saving",)


PARTS = ("model", "optimizer", "scheduler", "scaler")


def save_checkpoint(path, run):
    if run.window_open:
        return
    state = {name: getattr(run, name).state_dict() for name in PARTS}
    state |= {"position": run.position, "order": run.order}
    state |= {"shuffler": run.shuffler.get_state(), "rng": torch.get_rng_state()}
    torch.save(state, f"{path}.{run.position:06d}")


def load_checkpoint(path, run):
    names = sorted(name for name in os.listdir(os.path.dirname(path)))
    if not names:
        return
    state = torch.load(os.path.join(os.path.dirname(path), names[-1]))
    for name in PARTS:
        getattr(run, name).load_state_dict(state[name])
    run.position, run.order = state["position"], state["order"]
    run.shuffler.set_state(state["shuffler"])
    torch.set_rng_state(state["rng"])
