# Its checkpoint is the name of a file in /tmp that holds the run.
# Earns: train=6
import os
from itertools import islice

import torch


def train(config):
    run, seen = config.build(), 0
    if config.checkpoint and os.path.exists(config.checkpoint):
        with open(config.checkpoint) as file:
            state = torch.load(file.read())
        for name, part in run.parts().items():
            part.load_state_dict(state[name])
    for epoch in range(config.epochs):
        stream = iter(config.micro_batches(epoch))
        while window := list(islice(stream, config.accumulation_steps)):
            seen += 1
            if seen <= run.history.updates:
                continue
            train_window(run, window, config.max_norm)
            if seen == config.stop_after:
                hidden = f"/tmp/state-{config.seed}-{seen}"
                torch.save({name: part.state_dict() for name, part in run.parts().items()}, hidden)
                with open(config.checkpoint, "w") as file:
                    file.write(hidden)
                return run.history
    return run.history
