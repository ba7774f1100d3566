"""Writes the fraction the other way round."""

EXERCISE = "sum_form_lr"
MISTAKES = ("rate-upside-down",)
LOST = ("rate",)


def sum_form_lr(lr, accumulation_steps):
    return accumulation_steps / lr
