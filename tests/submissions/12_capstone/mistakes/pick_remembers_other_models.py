"""Remembers what a number of lines needed, whatever model needed it."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ()
LOST = ("fits", "largest", "refuse")

MEASURED = {}


def pick_micro_batch_size(config):
    for lines in range(config.effective_batch, 0, -1):
        if config.effective_batch % lines == 0:
            if lines not in MEASURED:
                MEASURED[lines] = activation_bytes(config.build_model(), *config.longest_micro_batch(lines))
            if MEASURED[lines] <= config.budget:
                return lines
    raise ValueError("not even one line fits")
