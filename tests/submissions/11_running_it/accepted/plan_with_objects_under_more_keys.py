"""Adds keys of its own to the plan, with values that are no numbers."""

EXERCISE = "plan_run"


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, rest = divmod(recipe_batch, world_size)
    room = (memory_budget - fixed) // per_sample
    sizes = [size for size in range(1, share + 1) if share % size == 0 and size <= room]
    if rest or not sizes:
        raise ValueError(f"{recipe_batch} samples cannot be planned on {world_size} ranks")
    steps = share // sizes[-1]
    return {
        "micro_batch_size": sizes[-1],
        "accumulation_steps": steps,
        "effective_batch": recipe_batch,
        "warning": None,
        "steps": range(steps),
    }
