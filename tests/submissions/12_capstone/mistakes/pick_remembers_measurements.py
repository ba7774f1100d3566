"""Measures each number of lines once, whatever the model."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ()
LOST = ("fits", "largest", "refuse")
SAYS = ("Your code changes MEASURED, which is defined outside of pick_micro_batch_size, so",)


MEASURED = {}


def pick_micro_batch_size(config):
    for lines in range(config.effective_batch, 0, -1):
        if config.effective_batch % lines:
            continue
        if lines not in MEASURED:
            MEASURED[lines] = activation_bytes(config.build_model(), *config.longest_micro_batch(lines))
        if MEASURED[lines] <= config.budget:
            return lines
    raise ValueError("not even one line fits the budget")
