"""The rate over N."""

EXERCISE = "sum_form_lr"


def sum_form_lr(lr, accumulation_steps):
    return lr / accumulation_steps
