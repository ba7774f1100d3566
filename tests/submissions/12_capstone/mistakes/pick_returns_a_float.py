"""Divides with /, so the size is a float."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ()
LOST = ("fits", "largest")


def pick_micro_batch_size(config):
    model, window = config.build_model(), config.effective_batch
    for steps in range(1, window + 1):
        if window % steps == 0 and activation_bytes(model, *config.longest_micro_batch(window // steps)) <= config.budget:
            return window / steps
    raise ValueError("not even one line fits")
