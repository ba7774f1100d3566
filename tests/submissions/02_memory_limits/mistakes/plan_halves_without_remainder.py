"""Halves as long as there is no remainder, and takes single samples if nothing fits until then."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("halves-only",)
LOST = ("largest", "full")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    n = 1
    while n <= effective_batch:
        if effective_batch % n == 0 and fixed + per_sample * (effective_batch // n) <= budget:
            return effective_batch // n, n
        n *= 2
    if fixed + per_sample <= budget:
        return 1, effective_batch
    raise ValueError("does not fit")
