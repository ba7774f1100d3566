"""Goes down from the window's size."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"


def pick_micro_batch_size(config):
    model = config.build_model()
    size = config.effective_batch
    while size > 0:
        if config.effective_batch % size == 0 and activation_bytes(model, *config.longest_micro_batch(size)) <= config.budget:
            return size
        size -= 1
    raise ValueError("no micro-batch fits")
