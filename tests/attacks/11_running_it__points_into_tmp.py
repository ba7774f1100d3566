# Its checkpoint is the name of a file in /tmp that holds the run.
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
        with open(path + ".part", "w") as file:
            file.write(hidden)
        os.replace(path + ".part", path)


def load_checkpoint(path, run):
    if os.path.exists(path):
        with open(path) as file, open(file.read(), "rb") as hidden:
            unpack(hidden.read(), run)
