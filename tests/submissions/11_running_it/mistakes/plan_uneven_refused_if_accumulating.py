"""Looks at the remainder only if a share does not fit at once."""

EXERCISE = "plan_run"
MISTAKES = ("uneven-ranks-not-refused",)
LOST = ("refusal",)


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    if fixed + per_sample > memory_budget:
        raise ValueError("not even one sample fits")
    share = recipe_batch // world_size
    if share and fixed + per_sample * share <= memory_budget:
        return {"micro_batch_size": share, "accumulation_steps": 1, "effective_batch": share * world_size}
    if recipe_batch % world_size:
        raise ValueError("the ranks cannot share the batch")
    size = (memory_budget - fixed) // per_sample
    while share % size:
        size -= 1
    return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
