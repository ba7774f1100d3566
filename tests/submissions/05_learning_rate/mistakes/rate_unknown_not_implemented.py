"""Refuses an unknown rule as something that is not implemented."""

EXERCISE = "scale_learning_rate"
MISTAKES = ()
LOST = ("unknown",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    powers = {"none": 0, "linear": 1, "sqrt": 0.5}
    if rule not in powers:
        raise NotImplementedError(f"the rule {rule}")
    return lr * (batch / reference_batch) ** powers[rule]
