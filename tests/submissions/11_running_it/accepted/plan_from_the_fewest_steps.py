"""Tries steps from one up."""

EXERCISE = "plan_run"


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    if recipe_batch % world_size:
        raise ValueError("the recipe's batch is no multiple of the world size")
    if fixed + per_sample > memory_budget:
        raise ValueError("one sample is too much")
    steps = 1
    while recipe_batch % (steps * world_size) or fixed + per_sample * recipe_batch // (steps * world_size) > memory_budget:
        steps += 1
    size = recipe_batch // (steps * world_size)
    return dict(effective_batch=recipe_batch, micro_batch_size=size, accumulation_steps=steps)
