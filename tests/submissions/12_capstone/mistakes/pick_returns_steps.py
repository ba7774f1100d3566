"""Returns N where B was asked for."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ("steps-for-lines",)
LOST = ("fits", "largest")


def pick_micro_batch_size(config):
    model = config.build_model()
    for size in range(config.effective_batch, 0, -1):
        if config.effective_batch % size == 0 and activation_bytes(model, *config.longest_micro_batch(size)) <= config.budget:
            return config.effective_batch // size
    raise ValueError("not even one line fits")
