"""Never tries more than 1,024 samples."""

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("largest",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    for size in range(min(effective_batch, 1024), 0, -1):
        if effective_batch % size == 0 and fixed + per_sample * size <= budget:
            return size, effective_batch // size
    raise ValueError("not even one sample fits")
