"""Plans as for one rank, and shares out the steps."""

EXERCISE = "plan_run"
MISTAKES = ("size-divides-recipe-only",)
LOST = ("ranks",)


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    if recipe_batch % world_size:
        raise ValueError("ranks cannot share the batch evenly")
    for size in range(recipe_batch, 0, -1):
        if recipe_batch % size == 0 and fixed + per_sample * size <= memory_budget:
            steps = recipe_batch // (size * world_size)
            return {"micro_batch_size": size, "accumulation_steps": steps, "effective_batch": recipe_batch}
    raise ValueError("not even one sample fits")
