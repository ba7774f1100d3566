"""Counts down to the first size that divides a rank's share and fits.

Computes how many samples fit, then takes the largest divisor of the share up to that.
"""

import math


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    if recipe_batch % world_size:
        raise ValueError(f"{world_size} ranks cannot share {recipe_batch} samples evenly")
    share = recipe_batch // world_size
    room = (memory_budget - fixed) // per_sample
    fitting = [size for size in range(1, min(share, room) + 1) if share % size == 0]
    if not fitting:
        raise ValueError(f"one sample needs {fixed + per_sample} bytes, the budget is {memory_budget}")
    size = max(fitting)
    plan = {"micro_batch_size": size, "accumulation_steps": share // size}
    return plan | {"effective_batch": math.prod(plan.values()) * world_size}
