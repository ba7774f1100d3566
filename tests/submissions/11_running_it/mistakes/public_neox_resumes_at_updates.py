"""Takes the number of updates for the number of micro-batches when it finds its place again."""

import os

import torch

STYLE = "a GPT trainer for clusters (GPT-NeoX)"
REPORT = "the data is not wound forward by the number of accumulation steps, and batches are seen twice"
SOURCE = "https://github.com/EleutherAI/gpt-neox/pull/308"
PREDICTED = ("state-missing-position",)
EXERCISE = "load_checkpoint"
MISTAKES = ("state-missing-position",)
LOST = ("epochs", "updates", "window", "saving")


PARTS = ("model", "optimizer", "scheduler", "scaler")


def save_checkpoint(path, run):
    if run.window_open:
        return
    checkpoint = {name: getattr(run, name).state_dict() for name in PARTS}
    checkpoint |= {"iteration": run.position // run.problem.accumulation_steps}
    checkpoint |= {"order": run.order, "sampler": run.shuffler.get_state(), "rng": torch.get_rng_state()}
    torch.save(checkpoint, f"{path}.tmp")
    os.replace(f"{path}.tmp", path)


def load_checkpoint(path, run):
    if not os.path.exists(path):
        return
    checkpoint = torch.load(path)
    for name in PARTS:
        getattr(run, name).load_state_dict(checkpoint[name])
    run.position = checkpoint["iteration"]
    run.order = checkpoint["order"]
    run.shuffler.set_state(checkpoint["sampler"])
    torch.set_rng_state(checkpoint["rng"])
