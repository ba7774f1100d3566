"""Measures the first micro-batch of an epoch instead of the longest lines."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ("micro-batch-over-budget",)
LOST = ("fits", "refuse")


def pick_micro_batch_size(config):
    model = config.build_model()
    for size in range(config.effective_batch, 0, -1):
        if config.effective_batch % size == 0:
            x, y = next(iter(config.with_(micro_batch_size=size).micro_batches(0)))
            if activation_bytes(model, x, y) <= config.budget:
                return size
    raise ValueError("nothing fits")
