"""Rounds the rate to four digits."""

EXERCISE = "sum_form_lr"
MISTAKES = ("rate-rounded",)
LOST = ("rate",)


def sum_form_lr(lr, accumulation_steps):
    return round(lr / accumulation_steps, 4)
