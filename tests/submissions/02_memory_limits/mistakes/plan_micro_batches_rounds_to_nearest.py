"""Rounds the number of samples that fit to the nearest whole number."""

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("largest",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    room = budget - fixed
    if room < per_sample:
        raise ValueError("not even one sample fits")
    size = min(effective_batch, (2 * room + per_sample) // (2 * per_sample))
    while effective_batch % size:
        size -= 1
    return size, effective_batch // size
