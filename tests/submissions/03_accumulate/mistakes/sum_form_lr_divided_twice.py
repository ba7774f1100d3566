"""Divides by N for the mean and by N for the rate."""

EXERCISE = "sum_form_lr"
MISTAKES = ("rate-divided-twice",)
LOST = ("rate",)


def sum_form_lr(lr, accumulation_steps):
    return lr / accumulation_steps / accumulation_steps
