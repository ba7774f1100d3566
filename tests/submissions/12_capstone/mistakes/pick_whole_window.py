"""Never looks at the budget."""

EXERCISE = "pick_micro_batch_size"
MISTAKES = ("micro-batch-whole-window",)
LOST = ("fits", "largest", "refuse")


def pick_micro_batch_size(config):
    return config.effective_batch
