"""Takes every other rule for none."""

EXERCISE = "scale_learning_rate"
MISTAKES = ()
LOST = ("unknown",)


def scale_learning_rate(lr, reference_batch, batch, rule):
    ratio = batch / reference_batch
    if rule == "linear":
        return lr * ratio
    return lr * ratio**0.5 if rule == "sqrt" else lr
