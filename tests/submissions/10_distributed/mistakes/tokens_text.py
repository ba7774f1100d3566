"""Returns a text."""

EXERCISE = "global_token_scale"
MISTAKES = ()
LOST = ("uneven", "ranks", "empty")


def global_token_scale(local_tokens):
    return "30 of 40"
