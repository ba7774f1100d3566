"""Prints the rate and returns nothing."""

EXERCISE = "sum_form_lr"
MISTAKES = ()
LOST = ("rate",)


def sum_form_lr(lr, accumulation_steps):
    print(lr / accumulation_steps)
