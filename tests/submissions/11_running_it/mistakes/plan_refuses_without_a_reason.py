"""Refuses without a reason."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("refusal",)


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    if recipe_batch % world_size:
        raise ValueError
    share = recipe_batch // world_size
    for size in range(share, 0, -1):
        if share % size == 0 and fixed + per_sample * size <= memory_budget:
            return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
    raise ValueError
