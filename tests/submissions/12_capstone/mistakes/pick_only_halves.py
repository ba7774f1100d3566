"""Halves the window until it fits."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ("only-halves",)
LOST = ("fits", "largest")


def pick_micro_batch_size(config):
    model, size = config.build_model(), config.effective_batch
    while activation_bytes(model, *config.longest_micro_batch(size)) > config.budget:
        if size % 2:
            raise ValueError("nothing fits")
        size //= 2
    return size
