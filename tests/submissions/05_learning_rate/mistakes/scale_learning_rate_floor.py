"""Lets no batch lower the rate more than ten times."""

EXERCISE = "scale_learning_rate"
MISTAKES = ()
LOST = ("rules",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    powers = {"none": 0, "linear": 1, "sqrt": 0.5}
    if rule not in powers:
        raise ValueError(f"unknown rule {rule!r}")
    return max(lr / 10, lr * (batch / reference_batch) ** powers[rule])
