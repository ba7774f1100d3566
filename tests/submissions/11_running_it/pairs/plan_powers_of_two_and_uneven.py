"""Only powers of two, and any number of ranks."""

EXERCISE = "plan_run"
MISTAKES = ("powers-of-two-only", "uneven-ranks-not-refused")
LOST = ("plan", "ranks", "refusal")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, left = divmod(recipe_batch, world_size)
    for size in range(share, 0, -1):
        if share % size == 0 and size.bit_count() == 1 and fixed + per_sample * size <= memory_budget:
            steps = share // size
            return {"micro_batch_size": size, "accumulation_steps": steps, "effective_batch": size * steps * world_size}
    raise ValueError("not even one sample fits")
