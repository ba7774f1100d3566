"""Looks at no more than 32 steps."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan",)


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, left = divmod(recipe_batch, world_size)
    if left:
        raise ValueError(f"{recipe_batch} samples cannot be shared evenly among {world_size} ranks")
    for steps in range(1, 33):
        size, left = divmod(share, steps)
        if not left and fixed + per_sample * size <= memory_budget:
            return {"micro_batch_size": size, "accumulation_steps": steps, "effective_batch": recipe_batch}
    raise ValueError("there is not enough memory for a single sample")
