"""Takes a world size by position only."""

EXERCISE = "effective_batch_size"
MISTAKES = ()
LOST = ("sizes", "nonsense")


def effective_batch_size(micro_batch_size, accumulation_steps, ranks=1, **ignored):
    for number in (micro_batch_size, accumulation_steps, ranks):
        if not isinstance(number, int) or number < 1:
            raise ValueError(f"not a size: {number!r}")
    return micro_batch_size * accumulation_steps * ranks
