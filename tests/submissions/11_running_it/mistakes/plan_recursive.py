"""Calls itself with one sample less until it fits, which Python does a thousand times at most."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan",)


def largest(share, size, room):
    if size < 1:
        raise ValueError("nothing fits")
    return size if size <= room and share % size == 0 else largest(share, size - 1, room)


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    assert isinstance(world_size, int)
    share, left = divmod(recipe_batch, world_size)
    if left:
        raise ValueError(f"{left} samples are left over")
    size = largest(share, share, (memory_budget - fixed) // per_sample)
    return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
