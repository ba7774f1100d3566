"""Lets no batch raise the rate more than twenty times."""

EXERCISE = "scale_learning_rate"
MISTAKES = ()
LOST = ("rules",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    powers = {"none": 0, "linear": 1, "sqrt": 0.5}
    if rule not in powers:
        raise ValueError(f"unknown rule {rule!r}")
    return min(20 * lr, lr * (batch / reference_batch) ** powers[rule])
