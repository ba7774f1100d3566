"""Counts windows and skips those that the checkpoint has seen.

Makes one stream of all windows of all epochs; resuming takes the rest of it. `train_window` is your own.
"""

import os
from itertools import islice

import torch


def windows(config):
    for epoch in range(config.epochs):
        stream = iter(config.micro_batches(epoch))
        while window := list(islice(stream, config.accumulation_steps)):
            yield window


def train(config):
    run = config.build()
    if config.checkpoint and os.path.exists(config.checkpoint):
        saved = torch.load(config.checkpoint)
        for name, part in run.parts().items():
            part.load_state_dict(saved[name])
    for window in islice(windows(config), run.history.updates, None):
        train_window(run, window, config.max_norm)
        if run.history.updates == config.stop_after:
            torch.save({name: part.state_dict() for name, part in run.parts().items()}, config.checkpoint)
            break
    return run.history
