"""Writes to another file and renames it, so that the checkpoint is always whole.

Writes numbered files and, when loading, takes the newest one that can be read.
"""

from pathlib import Path

import torch

OBJECTS = ("model", "optimizer", "scheduler", "scaler")


def save_checkpoint(path, run):
    if run.window_open:
        return
    state = {name: getattr(run, name).state_dict() for name in OBJECTS}
    rest = (run.position, run.order, run.shuffler.get_state(), torch.get_rng_state())
    folder = Path(path).parent
    torch.save((state, rest), folder / f"{run.position:06d}.ckpt")
    for old in sorted(folder.glob("*.ckpt"))[:-2]:
        old.unlink()


def load_checkpoint(path, run):
    for file in sorted(Path(path).parent.glob("*.ckpt"), reverse=True):
        try:
            state, (position, order, shuffler, rng) = torch.load(file)
        except Exception:  # the process died while it was written
            continue
        for name in OBJECTS:
            getattr(run, name).load_state_dict(state[name])
        run.position, run.order = position, order
        run.shuffler.set_state(shuffler)
        torch.set_rng_state(rng)
        return
