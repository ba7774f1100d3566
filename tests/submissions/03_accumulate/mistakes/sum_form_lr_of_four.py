"""Divides by four."""

EXERCISE = "sum_form_lr"
MISTAKES = ("fixed-number",)
LOST = ("rate",)


def sum_form_lr(lr, accumulation_steps):
    return lr / 4
