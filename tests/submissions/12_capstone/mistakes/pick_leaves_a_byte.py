"""Wants to stay below the budget, not at it."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ("budget-not-used-up",)
LOST = ("largest",)


def pick_micro_batch_size(config):
    model = config.build_model()
    for size in range(config.effective_batch, 0, -1):
        if config.effective_batch % size == 0 and activation_bytes(model, *config.longest_micro_batch(size)) < config.budget:
            return size
    raise ValueError("nothing fits")
