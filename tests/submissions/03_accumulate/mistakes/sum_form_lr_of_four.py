"""Knows only N = 4."""

EXERCISE = "sum_form_lr"
MISTAKES = ("rate-of-other-n",)
LOST = ("rate",)


def sum_form_lr(lr, accumulation_steps):
    return lr / 4
