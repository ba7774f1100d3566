"""Divides by the square root of N."""

EXERCISE = "sum_form_lr"
MISTAKES = ("rate-by-root",)
LOST = ("rate",)


def sum_form_lr(lr, accumulation_steps):
    return lr / accumulation_steps**0.5
