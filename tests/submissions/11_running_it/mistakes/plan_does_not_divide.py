"""Fills the memory and rounds the steps up."""

EXERCISE = "plan_run"
MISTAKES = ("does-not-divide",)
LOST = ("plan", "ranks")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, left = divmod(recipe_batch, world_size)
    if left:
        raise ValueError(f"{recipe_batch} samples cannot be shared evenly among {world_size} ranks")
    size = min(share, (memory_budget - fixed) // per_sample)
    if size > 0:
        steps = -(-share // size)
        return {"micro_batch_size": size, "accumulation_steps": steps, "effective_batch": size * steps * world_size}
    raise ValueError("not even one sample fits")
