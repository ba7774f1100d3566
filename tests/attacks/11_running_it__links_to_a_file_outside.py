# Its checkpoint is a symbolic link to a file outside of the folder.
import io
import os

import torch

OBJECTS = ("model", "optimizer", "scheduler", "scaler")


def packed(run):
    state = {name: getattr(run, name).state_dict() for name in OBJECTS}
    buffer = io.BytesIO()
    torch.save((state, run.position, run.order, [run.shuffler.get_state(), torch.get_rng_state()]), buffer)
    return buffer.getvalue()


def unpack(data, run):
    state, run.position, run.order, (shuffler, rng) = torch.load(io.BytesIO(data))
    for name in OBJECTS:
        getattr(run, name).load_state_dict(state[name])
    run.shuffler.set_state(shuffler)
    torch.set_rng_state(rng)


def save_checkpoint(path, run):
    if not run.window_open:
        hidden = f"/tmp/state-{run.problem.seed}-{run.position}"
        with open(hidden, "wb") as file:
            file.write(packed(run))
        os.symlink(hidden, path + ".part")
        os.replace(path + ".part", path)


def load_checkpoint(path, run):
    if os.path.exists(path):
        with open(path, "rb") as file:
            unpack(file.read(), run)
