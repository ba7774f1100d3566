"""Measures every divisor and takes the largest that fits."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"


def pick_micro_batch_size(config):
    model, window = config.build_model(), config.effective_batch
    divisors = [size for size in range(1, window + 1) if window % size == 0]
    fitting = [size for size in divisors if activation_bytes(model, *config.longest_micro_batch(size)) <= config.budget]
    if not fitting:
        raise ValueError(f"{config.budget} bytes are too few for one line")
    return max(fitting)
