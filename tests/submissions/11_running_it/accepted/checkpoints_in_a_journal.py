"""Appends every checkpoint to one file, with its length and a checksum, and loads the last one that is whole."""

import io
import os
import struct
import zlib

import torch

EXERCISE = "load_checkpoint"

OBJECTS = ("model", "optimizer", "scheduler", "scaler")


def everything(run):
    state = {name: getattr(run, name).state_dict() for name in OBJECTS}
    return state | {
        "position": run.position,
        "order": run.order,
        "shuffler": run.shuffler.get_state(),
        "rng": torch.get_rng_state(),
    }


def scan(path):
    """The last whole record, and where it ends."""
    last, end = None, 0
    if not os.path.exists(path):
        return last, end
    with open(path, "rb") as file:
        while len(head := file.read(12)) == 12:
            size, checksum = struct.unpack("<QI", head)
            body = file.read(size)
            if len(body) < size or zlib.crc32(body) != checksum:
                break
            last, end = body, file.tell()
    return last, end


def save_checkpoint(path, run):
    if run.window_open:
        return
    buffer = io.BytesIO()
    torch.save(everything(run), buffer)
    body = buffer.getvalue()
    _, end = scan(path)
    with open(path, "r+b" if os.path.exists(path) else "w+b") as file:
        file.seek(end)
        file.truncate()
        file.write(struct.pack("<QI", len(body), zlib.crc32(body)) + body)


def load_checkpoint(path, run):
    body, _ = scan(path)
    if body is None:
        return
    state = torch.load(io.BytesIO(body))
    for name in OBJECTS:
        getattr(run, name).load_state_dict(state[name])
    run.position, run.order = state["position"], state["order"]
    run.shuffler.set_state(state["shuffler"])
    torch.set_rng_state(state["rng"])
