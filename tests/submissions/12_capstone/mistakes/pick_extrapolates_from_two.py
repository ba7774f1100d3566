"""Measures two small sizes and computes the others from them, and one line needs more than their straight line says."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ()
LOST = ("refuse",)


def pick_micro_batch_size(config):
    model = config.build_model()
    two, four = (activation_bytes(model, *config.longest_micro_batch(size)) for size in (2, 4))
    for size in range(config.effective_batch, 0, -1):
        if config.effective_batch % size == 0 and two + (size - 2) * (four - two) / 2 <= config.budget:
            return size
    raise ValueError("not even one line fits")
