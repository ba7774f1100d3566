"""Takes a rule in capitals or with blanks around it for the rule."""

EXERCISE = "scale_learning_rate"
MISTAKES = ()
LOST = ("unknown",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    powers = {"none": 0, "linear": 1, "sqrt": 0.5}
    key = rule.casefold().strip()
    if key not in powers:
        raise ValueError(f"unknown rule {rule!r}")
    return lr * (batch / reference_batch) ** powers[key]
