"""Keeps one digit of N only. No named mistake."""

EXERCISE = "sum_form_lr"
MISTAKES = ()
LOST = ("rate",)
SAYS = ("For a large N you return 0.",)


def sum_form_lr(lr, accumulation_steps):
    return lr / accumulation_steps if accumulation_steps < 10 else 0.0
