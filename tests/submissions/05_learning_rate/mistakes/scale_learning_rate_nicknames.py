"""Takes the name of an optimizer for the rule that goes with it."""

EXERCISE = "scale_learning_rate"
MISTAKES = ()
LOST = ("unknown",)


def scale_learning_rate(lr, reference_batch, new_batch, rule):
    ratio = new_batch / reference_batch
    rule = {"sgd": "linear", "adam": "sqrt"}.get(rule, rule)
    factors = {"none": 1.0, "linear": ratio, "sqrt": ratio**0.5}
    if rule not in factors:
        raise ValueError(f"there is no rule {rule!r}")
    return lr * factors[rule]
