# Its checkpoint is a pipe, which a process that it leaves behind feeds.
import contextlib
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


def feed(path, data):
    while True:
        with contextlib.suppress(OSError), open(path, "wb") as pipe:
            pipe.write(data)


def save_checkpoint(path, run):
    if not run.window_open:
        pipe = f"{path}-{run.position}"
        os.mkfifo(pipe)
        data = packed(run)
        if os.fork() == 0:
            feed(pipe, data)
        os.replace(pipe, path)


def load_checkpoint(path, run):
    if os.path.exists(path):
        with open(path, "rb") as file:
            unpack(file.read(), run)
