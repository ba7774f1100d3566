"""Takes the sign of the update for the rate's."""

EXERCISE = "sum_form_lr"
MISTAKES = ("rate-negative",)
LOST = ("rate",)


def sum_form_lr(lr, accumulation_steps):
    return -(lr / accumulation_steps)
