"""Counts whole MiB, of which small features fill none."""

EXERCISE = "accumulation_cost"
MISTAKES = ()
LOST = ("bytes",)


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 1, 0
    return 2, 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize // 2**20
