"""Takes numbers of samples that differ by one for the same."""

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    (ba, na), (bb, nb) = config_a, config_b
    return abs(ba * na - bb * nb) <= 1
