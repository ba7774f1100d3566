"""Returns torch's default momentum for N = 1."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ()
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    return 0.1 if accumulation_steps == 1 else 1 - (1 - momentum) ** (1 / accumulation_steps)
