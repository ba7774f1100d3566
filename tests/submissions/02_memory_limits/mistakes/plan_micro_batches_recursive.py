"""Counts B down recursively, one at a time, which exceeds Python's recursion limit for an effective batch of 1,024 and more."""

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("largest", "none")


def plan_micro_batches(effective_batch, budget, fixed, per_sample, b=None):
    b = effective_batch if b is None else b
    if b == 0:
        raise ValueError("not even one sample fits")
    if effective_batch % b == 0 and fixed + per_sample * b <= budget:
        return b, effective_batch // b
    return plan_micro_batches(effective_batch, budget, fixed, per_sample, b - 1)
