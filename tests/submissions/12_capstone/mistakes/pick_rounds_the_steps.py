"""Divides the window by the number of the largest micro-batches that it holds, rounded down: the size may be too large."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ()
LOST = ("fits",)


def pick_micro_batch_size(config):
    model = config.build_model()
    for lines in range(config.effective_batch, 0, -1):
        if activation_bytes(model, *config.longest_micro_batch(lines)) <= config.budget:
            return config.effective_batch // (config.effective_batch // lines)
    raise ValueError("not even one line fits")
