"""Tries no size above 1024."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan",)


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, rest = divmod(recipe_batch, world_size)
    room = (memory_budget - fixed) // per_sample
    if rest or room < 1:
        raise ValueError("There is no such plan.")
    size = max(b for b in range(1, 1025) if share % b == 0 and b <= room)
    return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
