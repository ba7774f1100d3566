"""Saves whenever it is asked to, also in the middle of a window."""

import os

import torch

STYLE = "a widely used trainer (Transformers)"
REPORT = "gradients gathered before the save are lost, so that a resumed run is not the same"
SOURCE = "https://github.com/huggingface/transformers/issues/22143"
PREDICTED = ("mid-window-checkpoint",)
EXERCISE = "load_checkpoint"
MISTAKES = ("mid-window-checkpoint",)
LOST = ("window", "saving")


PARTS = ("model", "optimizer", "scheduler", "scaler")


def save_checkpoint(path, run):
    checkpoint = {name: getattr(run, name).state_dict() for name in PARTS}
    checkpoint |= {"position": run.position}
    checkpoint |= {"order": run.order, "sampler": run.shuffler.get_state(), "rng": torch.get_rng_state()}
    torch.save(checkpoint, f"{path}.tmp")
    os.replace(f"{path}.tmp", path)


def load_checkpoint(path, run):
    if not os.path.exists(path):
        return
    checkpoint = torch.load(path)
    for name in PARTS:
        getattr(run, name).load_state_dict(checkpoint[name])
    run.position = checkpoint["position"]
    run.order = checkpoint["order"]
    run.shuffler.set_state(checkpoint["sampler"])
    torch.set_rng_state(checkpoint["rng"])
