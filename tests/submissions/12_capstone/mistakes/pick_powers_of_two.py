"""Tries powers of two only."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ("powers-of-two-only",)
LOST = ("fits", "largest")


def pick_micro_batch_size(config):
    model = config.build_model()
    for size in (64, 32, 16, 8, 4, 2, 1):
        if config.effective_batch % size == 0 and activation_bytes(model, *config.longest_micro_batch(size)) <= config.budget:
            return size
    raise ValueError("not even one line fits")
