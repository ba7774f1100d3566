"""Plans the whole recipe batch for one rank, as in unit 02."""

EXERCISE = "plan_run"
MISTAKES = ("plan-for-one-rank",)
LOST = ("ranks",)


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    if recipe_batch % world_size:
        raise ValueError(f"{recipe_batch} samples cannot be shared evenly among {world_size} ranks")
    for size in range(recipe_batch, 0, -1):
        if recipe_batch % size == 0 and fixed + per_sample * size <= memory_budget:
            return {"micro_batch_size": size, "accumulation_steps": recipe_batch // size, "effective_batch": recipe_batch}
    raise ValueError("not even one sample fits")
