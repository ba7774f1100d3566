"""Leaves the effective batch size open."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan", "ranks")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, rest = divmod(recipe_batch, world_size)
    room = (memory_budget - fixed) // per_sample
    sizes = [size for size in range(1, share + 1) if share % size == 0 and size <= room]
    if rest or not sizes:
        raise ValueError(f"{recipe_batch} samples cannot be planned on {world_size} ranks")
    return {"micro_batch_size": sizes[-1], "accumulation_steps": share // sizes[-1], "effective_batch": None}
