"""Plans no micro-batches of a single sample."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan", "ranks")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, left = divmod(recipe_batch, world_size)
    if left:
        raise ValueError("the ranks cannot share the recipe's batch evenly")
    for size in range(share, 1, -1):
        if share % size == 0 and fixed + per_sample * size <= memory_budget:
            return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
    raise ValueError("not even two samples fit")
