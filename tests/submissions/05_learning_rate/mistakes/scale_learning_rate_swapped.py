"""Takes one rule for the other."""

EXERCISE = "scale_learning_rate"
MISTAKES = ("rules-swapped",)
LOST = ("rules",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    powers = {"none": 0, "linear": 0.5, "sqrt": 1}
    if rule not in powers:
        raise ValueError(f"unknown rule {rule!r}")
    return lr * (batch / reference_batch) ** powers[rule]
