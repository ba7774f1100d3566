"""Believes that the rate never changes."""

EXERCISE = "scale_learning_rate"
MISTAKES = ("rate-not-scaled",)
LOST = ("rules",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    powers = {"none": 0, "linear": 1, "sqrt": 0.5}
    if rule not in powers:
        raise ValueError(f"unknown rule {rule!r}")
    return lr
