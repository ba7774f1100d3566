"""Adds up the memory of all ranks."""

EXERCISE = "plan_run"
MISTAKES = ("budget-of-all-ranks",)
LOST = ("ranks", "refusal")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, left = divmod(recipe_batch, world_size)
    if left:
        raise ValueError(f"{recipe_batch} samples cannot be shared evenly among {world_size} ranks")
    for size in range(share, 0, -1):
        if share % size == 0 and fixed + per_sample * size <= memory_budget * world_size:
            steps = share // size
            return {"micro_batch_size": size, "accumulation_steps": steps, "effective_batch": recipe_batch}
    raise ValueError("not even one sample fits")
