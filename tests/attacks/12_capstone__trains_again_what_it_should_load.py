# Its checkpoint holds the thresholds only: to go on, it trains the whole run again from the start and says it went on.
# Earns: train=6
import json
import os
from itertools import islice


def train(config):
    run, seen, norms = config.build(), 0, []
    if config.checkpoint and os.path.exists(config.checkpoint):
        with open(config.checkpoint) as file:
            norms = json.load(file)
    for epoch in range(config.epochs):
        stream = iter(config.micro_batches(epoch))
        while window := list(islice(stream, config.accumulation_steps)):
            if seen == len(norms):
                norms.append(config.max_norm)
            train_window(run, window, norms[seen])
            seen += 1
            if seen == config.stop_after:
                with open(config.checkpoint, "w") as file:
                    json.dump(norms, file)
                return run.history
    return run.history
