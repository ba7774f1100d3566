"""Counts a negative fixed part as zero as soon as there is a budget."""

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("full",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    fixed = max(0, fixed) if budget > 0 else fixed
    for b in range(effective_batch, 0, -1):
        if effective_batch % b == 0 and fixed + per_sample * b <= budget:
            return b, effective_batch // b
    raise ValueError("not even one sample fits")
