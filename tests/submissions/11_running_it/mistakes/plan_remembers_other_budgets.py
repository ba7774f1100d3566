"""Remembers the plan for a batch, whatever the budget was."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan",)

PLANS = {}


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, rest = divmod(recipe_batch, world_size)
    if rest or fixed + per_sample > memory_budget:
        raise ValueError("There is no such plan.")
    if (recipe_batch, world_size) not in PLANS:
        room = (memory_budget - fixed) // per_sample
        PLANS[recipe_batch, world_size] = next(b for b in range(share, 0, -1) if share % b == 0 and b <= room)
    size = PLANS[recipe_batch, world_size]
    return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
