"""Returns 1.0 or 0.0."""

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)
SAYS = ("your function returned 1.0, where True was due.",)


def same_update(config_a, config_b):
    return float(config_a[0] * config_a[1] == config_b[0] * config_b[1])
