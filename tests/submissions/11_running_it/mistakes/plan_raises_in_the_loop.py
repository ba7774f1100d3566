"""Raises at the first size that fits but does not divide."""

EXERCISE = "plan_run"
MISTAKES = ("largest-or-nothing",)
LOST = ("plan", "ranks")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, left = divmod(recipe_batch, world_size)
    if left:
        raise ValueError("the ranks cannot share the recipe's batch evenly")
    for size in range(share, 0, -1):
        if fixed + per_sample * size > memory_budget:
            continue
        if share % size:
            raise ValueError(f"{size} does not divide {share}")
        return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
    raise ValueError("not even one sample fits")
