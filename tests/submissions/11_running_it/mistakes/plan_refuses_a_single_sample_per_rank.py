"""Refuses recipes in which each rank reads a single sample, but plans micro-batches of one sample otherwise."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan", "ranks")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, rest = divmod(recipe_batch, world_size)
    if rest or share <= 1:
        raise ValueError("too few samples for the ranks")
    for size in range(share, 0, -1):
        if share % size == 0 and fixed + per_sample * size <= memory_budget:
            return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
    raise ValueError("not even one sample fits")
