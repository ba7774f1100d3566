"""Divides by 64 at most, so that the rate does not vanish. No named mistake."""

EXERCISE = "sum_form_lr"
MISTAKES = ()
LOST = ("rate",)
SAYS = ("Each of your numbers is the one that is due for a second argument that is never more than 64.",)


def sum_form_lr(lr, accumulation_steps):
    return lr / min(accumulation_steps, 64)
