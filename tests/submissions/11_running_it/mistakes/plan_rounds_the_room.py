"""Rounds the samples that there is room for to the nearest number, so the largest micro-batch may need a little too much."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan",)


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    if recipe_batch % world_size:
        raise ValueError("the ranks cannot share the batch evenly")
    if fixed + per_sample > memory_budget:
        raise ValueError("not even one sample fits")
    share = recipe_batch // world_size
    room = round((memory_budget - fixed) / per_sample)
    size = next(size for size in range(min(share, room), 0, -1) if share % size == 0)
    return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
