"""Prefers multiples of 8 to larger sizes."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan",)


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, rest = divmod(recipe_batch, world_size)
    room = (memory_budget - fixed) // per_sample
    sizes = [b for b in range(1, share + 1) if share % b == 0 and b <= room]
    if rest or not sizes:
        raise ValueError("There is no such plan.")
    size = max([b for b in sizes if b % 8 == 0] or sizes)
    return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
