"""Takes the largest size that fits, and gives up if it does not divide."""

EXERCISE = "plan_run"
MISTAKES = ("largest-or-nothing",)
LOST = ("plan", "ranks")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, left = divmod(recipe_batch, world_size)
    if left:
        raise ValueError("the ranks cannot share the recipe's batch evenly")
    size = min((memory_budget - fixed) // per_sample, share)
    if size < 1:
        raise ValueError("not even one sample fits")
    steps, rest = divmod(share, size)
    if rest:
        raise ValueError(f"{size} does not divide {share}")
    return {"micro_batch_size": size, "accumulation_steps": steps, "effective_batch": recipe_batch}
