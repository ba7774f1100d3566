"""Returns the factor and leaves the rate out."""

EXERCISE = "scale_learning_rate"
MISTAKES = ("fixed-number",)
LOST = ("rules",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    powers = {"none": 0, "linear": 1, "sqrt": 0.5}
    if rule not in powers:
        raise ValueError(f"unknown rule {rule!r}")
    return (batch / reference_batch) ** powers[rule]
