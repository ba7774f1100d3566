"""Counts up and stops at the first size that does not divide a share."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan", "ranks")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    if recipe_batch % world_size:
        raise ValueError("the ranks cannot share the batch evenly")
    share, size = recipe_batch // world_size, 0
    while size < share and share % (size + 1) == 0 and fixed + per_sample * (size + 1) <= memory_budget:
        size += 1
    if size == 0:
        raise ValueError("not even one sample fits")
    return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
