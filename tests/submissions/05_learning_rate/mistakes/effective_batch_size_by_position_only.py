"""Looks only at what is given by position."""

EXERCISE = "effective_batch_size"
MISTAKES = ()
LOST = ("nonsense",)


def effective_batch_size(*sizes, world_size=1):
    for number in sizes:
        if not isinstance(number, int) or number < 1:
            raise ValueError(f"not a size: {number!r}")
    product = world_size
    for number in sizes:
        product *= number
    return product
