"""Returns the factor, not the rate."""

EXERCISE = "sum_form_lr"
MISTAKES = ("rate-without-lr",)
LOST = ("rate",)


def sum_form_lr(lr, accumulation_steps):
    return 1.0 / accumulation_steps
