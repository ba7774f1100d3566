"""Takes 256 for the reference, whatever it is."""

EXERCISE = "scale_learning_rate"
MISTAKES = ("fixed-number",)
LOST = ("rules",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    powers = {"none": 0, "linear": 1, "sqrt": 0.5}
    if rule not in powers:
        raise ValueError(f"unknown rule {rule!r}")
    return lr * (batch / 256) ** powers[rule]
