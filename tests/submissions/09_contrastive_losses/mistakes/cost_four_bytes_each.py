"""Takes every number for a float32."""

EXERCISE = "accumulation_cost"
MISTAKES = ("elements-not-bytes",)
LOST = ("bytes",)


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 1, 0
    return 2, 2 * micro_batch_size * accumulation_steps * width * 4
