"""Takes the largest of all divisors that fit."""

import math

EXERCISE = "plan_run"


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    if math.gcd(recipe_batch, world_size) != world_size:
        raise ValueError(f"{world_size} ranks?")
    share = recipe_batch // world_size
    room = (memory_budget - fixed) // per_sample
    fitting = [size for size in range(1, min(share, room) + 1) if math.gcd(share, size) == size]
    if not fitting:
        raise ValueError("buy memory")
    size = max(fitting)
    plan = {"micro_batch_size": size, "accumulation_steps": share // size}
    return plan | {"effective_batch": math.prod(plan.values()) * world_size}
