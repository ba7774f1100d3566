"""Numbers its files, sorts their names as texts, and forgets the optimizer."""

import glob
import os

import torch

EXERCISE = "load_checkpoint"
MISTAKES = ("older-checkpoint-loaded", "state-missing-optimizer")
LOST = ("epochs", "updates", "window", "saving")

PARTS = ("model", "scheduler", "scaler")


def save_checkpoint(path, run):
    if run.window_open:
        return
    state = {name: getattr(run, name).state_dict() for name in PARTS}
    state |= {"position": run.position, "order": run.order}
    state |= {"shuffler": run.shuffler.get_state(), "rng": torch.get_rng_state()}
    torch.save(state, path + ".part")
    os.replace(path + ".part", f"{path}-{run.position}")


def load_checkpoint(path, run):
    if found := sorted(glob.glob(path + "-*")):
        state = torch.load(found[-1])
        for name in PARTS:
            getattr(run, name).load_state_dict(state[name])
        run.position, run.order = state["position"], state["order"]
        run.shuffler.set_state(state["shuffler"])
        torch.set_rng_state(state["rng"])
