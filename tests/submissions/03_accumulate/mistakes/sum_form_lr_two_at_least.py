"""Takes no N below two seriously."""

EXERCISE = "sum_form_lr"
MISTAKES = ("rate-of-other-n",)
LOST = ("rate",)


def sum_form_lr(lr, accumulation_steps):
    return lr / max(2, accumulation_steps)
