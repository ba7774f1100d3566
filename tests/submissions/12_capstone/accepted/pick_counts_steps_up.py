"""Tries accumulation steps from one upwards, by recursion."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"


def pick_micro_batch_size(config, steps=1):
    if steps > config.effective_batch:
        raise ValueError("one line is too much already")
    size, rest = divmod(config.effective_batch, steps)
    if rest == 0 and activation_bytes(config.build_model(), *config.longest_micro_batch(size)) <= config.budget:
        return size
    return pick_micro_batch_size(config, steps + 1)
