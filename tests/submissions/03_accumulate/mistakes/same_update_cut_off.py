"""Takes all windows of 100,000 samples and more for equal."""

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    first, second = (min(size * steps, 100_000) for size, steps in (config_a, config_b))
    return first == second
