"""Rounds the ratio down, so smaller batches have no rate."""

EXERCISE = "scale_learning_rate"
MISTAKES = ("whole-ratios",)
LOST = ("rules",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    powers = {"none": 0, "linear": 1, "sqrt": 0.5}
    if rule not in powers:
        raise ValueError(f"unknown rule {rule!r}")
    return lr * (batch // reference_batch) ** powers[rule]
