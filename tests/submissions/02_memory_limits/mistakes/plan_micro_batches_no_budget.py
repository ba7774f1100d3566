"""Takes a budget of zero or less for too small, whatever the fixed part is."""

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("full",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    fitting = [b for b in range(1, effective_batch + 1) if effective_batch % b == 0 and fixed + per_sample * b <= budget]
    if budget < 1 or not fitting:
        raise ValueError(f"nothing fits into {budget} bytes")
    return fitting[-1], effective_batch // fitting[-1]
