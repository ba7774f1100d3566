"""Right, but writes the size into the config that it was given, past the protection of a frozen dataclass."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ()
LOST = ("fits", "largest")


def pick_micro_batch_size(config):
    for size in range(config.effective_batch, 0, -1):
        if config.effective_batch % size == 0:
            if activation_bytes(config.build_model(), *config.longest_micro_batch(size)) <= config.budget:
                object.__setattr__(config, "micro_batch_size", size)
                return size
    raise ValueError("not even one line fits")
