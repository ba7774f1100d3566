"""Gives as its reason only the rule that it does not know, which may be an empty one."""

EXERCISE = "scale_learning_rate"


def scale_learning_rate(lr, reference_batch, batch, rule):
    ratio = batch / reference_batch
    exponents = {"none": 0, "linear": 1, "sqrt": 0.5}
    if rule not in exponents:
        raise ValueError(rule)
    return lr * ratio ** exponents[rule]
