"""Returns the rate at once where the batches are equal, before it looks at the rule."""

EXERCISE = "scale_learning_rate"
MISTAKES = ()
LOST = ("unknown",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    if batch == reference_batch:
        return lr
    powers = {"none": 0, "linear": 1, "sqrt": 0.5}
    if rule not in powers:
        raise ValueError(f"unknown rule {rule!r}")
    return lr * (batch / reference_batch) ** powers[rule]
