"""Divides by 64 at most, so that the rate does not vanish. No named mistake."""

EXERCISE = "sum_form_lr"
MISTAKES = ()
LOST = ("rate",)


def sum_form_lr(lr, accumulation_steps):
    return lr / min(accumulation_steps, 64)
