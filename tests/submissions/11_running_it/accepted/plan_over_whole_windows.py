"""Looks for a size whose micro-batches on all ranks together divide the recipe's batch."""

EXERCISE = "plan_run"


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    for size in range(recipe_batch, 0, -1):
        if recipe_batch % (size * world_size) == 0 and fixed + per_sample * size <= memory_budget:
            return {
                "micro_batch_size": size,
                "accumulation_steps": recipe_batch // (size * world_size),
                "effective_batch": recipe_batch,
            }
    raise ValueError("no size fits and divides")
