"""Divides bytes as floats, which rounds up where there are very many."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan",)


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, uneven = divmod(recipe_batch, world_size)
    room = int((memory_budget - fixed) / per_sample)
    if uneven or room < 1:
        raise ValueError("cannot be planned")
    size = min(room, share)
    while share % size:
        size -= 1
    return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
