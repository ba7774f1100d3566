"""Measures one line and two lines, and takes all other sizes to lie on the line through both."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ()
LOST = ("fits",)


def pick_micro_batch_size(config):
    model = config.build_model()
    one, two = (activation_bytes(model, *config.longest_micro_batch(lines)) for lines in (1, 2))
    for lines in range(config.effective_batch, 0, -1):
        if config.effective_batch % lines == 0 and one + (lines - 1) * (two - one) <= config.budget:
            return lines
    raise ValueError("not even one line fits the budget")
