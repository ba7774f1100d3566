"""Brings gradients back as well, but to a new optimizer, whose rate the schedule does not set."""

import os

import torch

EXERCISE = "load_checkpoint"
MISTAKES = ()
LOST = ("epochs", "updates", "window", "saving")


def save_checkpoint(path, run):
    state = {name: getattr(run, name).state_dict() for name in ("model", "optimizer", "scheduler", "scaler")}
    state["gradients"] = [p.grad for p in run.model.parameters()]
    state["rest"] = run.position, run.order, run.shuffler.get_state(), torch.get_rng_state()
    torch.save(state, path + "~")
    os.replace(path + "~", path)


def load_checkpoint(path, run):
    if os.path.isfile(path):
        state = torch.load(path)
        run.optimizer = torch.optim.AdamW(run.model.parameters(), lr=0.5)
        for name in ("model", "optimizer", "scheduler", "scaler"):
            getattr(run, name).load_state_dict(state[name])
        for parameter, gradient in zip(run.model.parameters(), state["gradients"], strict=True):
            parameter.grad = gradient
        run.position, run.order, shuffler, rng = state["rest"]
        run.shuffler.set_state(shuffler)
        torch.set_rng_state(rng)
