"""Always says yes."""

EXERCISE = "same_update"
MISTAKES = ("same-answer-always",)
LOST = ("answers",)


def same_update(config_a, config_b):
    return True
