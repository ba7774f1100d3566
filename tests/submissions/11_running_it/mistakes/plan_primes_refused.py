"""Takes a prime share for one that cannot be cut."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan", "ranks")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, rest = divmod(recipe_batch, world_size)
    room = (memory_budget - fixed) // per_sample
    if rest or room < 1:
        raise ValueError(f"{recipe_batch} samples cannot be planned on {world_size} ranks")
    sizes = [size for size in range(1, share + 1) if share % size == 0]
    if len(sizes) == 2 and share > room:
        raise ValueError("a prime share cannot be cut")
    size = max(size for size in sizes if size <= room)
    return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
