"""Returns the rate as it is."""

EXERCISE = "sum_form_lr"
MISTAKES = ("rate-unchanged",)
LOST = ("rate",)


def sum_form_lr(lr, accumulation_steps):
    return lr
