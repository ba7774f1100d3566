"""Says yes, too, if the second averages over fewer samples."""

EXERCISE = "same_update"
MISTAKES = ("compares-which-is-larger",)
LOST = ("answers",)


def same_update(config_a, config_b):
    (size_a, steps_a), (size_b, steps_b) = config_a, config_b
    return size_a * steps_a >= size_b * steps_b
