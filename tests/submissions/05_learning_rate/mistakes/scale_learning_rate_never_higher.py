"""Keeps the rate for larger batches."""

EXERCISE = "scale_learning_rate"
MISTAKES = ()
LOST = ("rules",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    powers = {"none": 0, "linear": 1, "sqrt": 0.5}
    if rule not in powers:
        raise ValueError(f"unknown rule {rule!r}")
    return lr * min(1.0, batch / reference_batch) ** powers[rule]
