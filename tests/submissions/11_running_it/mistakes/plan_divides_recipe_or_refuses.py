"""Plans as for one rank, and refuses if the steps cannot be shared out."""

EXERCISE = "plan_run"
MISTAKES = ("size-divides-recipe-only",)
LOST = ("ranks",)


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    for size in range(recipe_batch, 0, -1):
        if recipe_batch % size == 0 and fixed + per_sample * size <= memory_budget:
            steps, left = divmod(recipe_batch, size * world_size)
            if left:
                raise ValueError("the ranks cannot share this evenly")
            return {"micro_batch_size": size, "accumulation_steps": steps, "effective_batch": recipe_batch}
    raise ValueError("not even one sample fits")
