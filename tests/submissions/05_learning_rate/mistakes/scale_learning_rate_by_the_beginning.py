"""Takes every text that begins like a rule for that rule."""

EXERCISE = "scale_learning_rate"
MISTAKES = ()
LOST = ("unknown",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    for name, power in {"none": 0, "linear": 1, "sqrt": 0.5}.items():
        if rule.startswith(name):
            return lr * (batch / reference_batch) ** power
    raise ValueError(f"there is no rule {rule!r}")
