"""Begins at the size that the config happens to have."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ("own-size-as-limit",)
LOST = ("fits", "largest")


def pick_micro_batch_size(config):
    model = config.build_model()
    for size in range(config.micro_batch_size, 0, -1):
        if config.effective_batch % size == 0 and activation_bytes(model, *config.longest_micro_batch(size)) <= config.budget:
            return size
    raise ValueError("not even one line fits")
