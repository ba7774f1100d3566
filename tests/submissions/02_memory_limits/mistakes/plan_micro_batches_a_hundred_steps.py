"""Tries at most a hundred accumulation steps."""

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("largest",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    for steps in range(1, 101):
        size, rest = divmod(effective_batch, steps)
        if rest == 0 and size and fixed + per_sample * size <= budget:
            return size, steps
    raise ValueError("not even one sample fits")
