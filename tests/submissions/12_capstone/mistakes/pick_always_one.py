"""One line at a time is always safe."""

EXERCISE = "pick_micro_batch_size"
MISTAKES = ("micro-batch-smallest",)
LOST = ("fits", "largest", "refuse")


def pick_micro_batch_size(config):
    return 1
