"""Multiplies the rate by N."""

EXERCISE = "sum_form_lr"
MISTAKES = ("rate-multiplied",)
LOST = ("rate",)


def sum_form_lr(lr, accumulation_steps):
    return lr * accumulation_steps
