"""Halves and rounds, so that the window need not be divided."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ("micro-batch-no-divisor",)
LOST = ("fits", "largest")


def pick_micro_batch_size(config):
    model = config.build_model()
    for size in (config.effective_batch >> k for k in range(config.effective_batch.bit_length())):
        if activation_bytes(model, *config.longest_micro_batch(size)) <= config.budget:
            return size
    raise ValueError("not even one line fits")
