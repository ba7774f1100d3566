"""Takes every part of a rule's name for a rule."""

EXERCISE = "scale_learning_rate"
MISTAKES = ()
LOST = ("unknown",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    if rule not in "none linear sqrt":
        raise ValueError(f"unknown rule {rule!r}")
    ratio = batch / reference_batch
    return lr * {"linear": ratio, "sqrt": ratio**0.5}.get(rule, 1.0)
