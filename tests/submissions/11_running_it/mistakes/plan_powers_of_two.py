"""Doubles N until it fits."""

EXERCISE = "plan_run"
MISTAKES = ("powers-of-two-only",)
LOST = ("plan", "ranks")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, left = divmod(recipe_batch, world_size)
    if left:
        raise ValueError(f"{recipe_batch} samples cannot be shared evenly among {world_size} ranks")
    for power in range(share.bit_length()):
        size = share // 2**power
        if share % 2**power == 0 and fixed + per_sample * size <= memory_budget:
            steps = share // size
            return {"micro_batch_size": size, "accumulation_steps": steps, "effective_batch": size * steps * world_size}
    raise ValueError("not even one sample fits")
