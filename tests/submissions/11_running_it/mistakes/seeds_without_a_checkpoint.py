"""Seeds the random numbers of a run that has no checkpoint yet."""

import os

import torch

EXERCISE = "load_checkpoint"
MISTAKES = ()
LOST = ("start",)


def save_checkpoint(path, run):
    if run.window_open:
        return
    state = {
        "model": run.model.state_dict(),
        "optimizer": run.optimizer.state_dict(),
        "scheduler": run.scheduler.state_dict(),
        "scaler": run.scaler.state_dict(),
        "position": run.position,
        "order": run.order,
        "shuffler": run.shuffler.get_state(),
        "rng": torch.get_rng_state(),
    }
    torch.save(state, path + ".part")
    os.replace(path + ".part", path)


def load_checkpoint(path, run):
    if not os.path.exists(path):
        torch.manual_seed(0)
        return
    state = torch.load(path)
    run.model.load_state_dict(state["model"])
    run.optimizer.load_state_dict(state["optimizer"])
    run.scheduler.load_state_dict(state["scheduler"])
    run.scaler.load_state_dict(state["scaler"])
    run.position = state["position"]
    run.order = state["order"]
    run.shuffler.set_state(state["shuffler"])
    torch.set_rng_state(state["rng"])
