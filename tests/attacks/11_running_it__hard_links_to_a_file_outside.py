# Its checkpoint is a hard link to a file in /tmp, in which it reads.
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
        os.link(hidden, path + ".part")
        os.replace(path + ".part", path)


def load_checkpoint(path, run):
    if os.path.exists(path):
        names = [name for name in os.listdir("/tmp") if name.startswith("state-")]
        found = [name for name in names if os.path.samefile(f"/tmp/{name}", path)]
        with open(f"/tmp/{found[0] if found else names[-1]}", "rb") as file:
            unpack(file.read(), run)
