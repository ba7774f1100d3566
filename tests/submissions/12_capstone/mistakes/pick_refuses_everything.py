"""Refuses every budget."""

EXERCISE = "pick_micro_batch_size"
MISTAKES = ()
LOST = ("fits", "largest", "refuse")


def pick_micro_batch_size(config):
    raise ValueError("nothing fits")
