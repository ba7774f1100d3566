"""Measures all micro-batches of the first epoch, where the longest line may be in a ragged one."""

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ()
LOST = ("fits",)


def pick_micro_batch_size(config):
    model = config.build_model()
    for lines in range(config.effective_batch, 0, -1):
        if config.effective_batch % lines == 0:
            stream = config.with_(micro_batch_size=lines).micro_batches(0)
            if max(activation_bytes(model, x, y) for x, y in stream) <= config.budget:
                return lines
    raise ValueError("not even one line fits the budget")
