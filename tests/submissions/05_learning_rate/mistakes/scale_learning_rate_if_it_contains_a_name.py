"""Takes every text for the rule sqrt in which this name occurs."""

EXERCISE = "scale_learning_rate"
MISTAKES = ()
LOST = ("unknown",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    if rule in ("none", "linear"):
        return lr * batch / reference_batch if rule == "linear" else lr
    if "sqrt" in rule:
        return lr * (batch / reference_batch) ** 0.5
    raise ValueError(f"unknown rule {rule!r}")
