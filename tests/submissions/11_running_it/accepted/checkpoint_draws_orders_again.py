"""Draws the orders of all epochs so far again, instead of saving them."""

import os

import torch

EXERCISE = "load_checkpoint"


def save_checkpoint(path, run):
    if run.window_open:
        return
    objects = [run.model, run.optimizer, run.scheduler, run.scaler]
    torch.save(
        {"objects": [one.state_dict() for one in objects], "at": run.position, "rng": torch.get_rng_state()}, path + ".new"
    )
    os.replace(path + ".new", path)


def load_checkpoint(path, run):
    if not os.path.exists(path):
        return
    state = torch.load(path)
    for one, its_state in zip([run.model, run.optimizer, run.scheduler, run.scaler], state["objects"], strict=True):
        one.load_state_dict(its_state)
    run.position = state["at"]
    if run.problem.shuffled:
        for _ in range(-(-run.position // run.problem.micro_batches)):
            run.order = torch.randperm(len(run.x), generator=run.shuffler)
    torch.set_rng_state(state["rng"])
