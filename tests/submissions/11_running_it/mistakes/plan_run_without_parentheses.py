"""Lacks parentheses around what is to be divided."""

EXERCISE = "plan_run"
MISTAKES = ("budget-ignored", "misfit-not-refused")
LOST = ("plan", "ranks", "refusal")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    if recipe_batch % world_size != 0:
        raise ValueError("recipe batch cannot be shared evenly")
    share = recipe_batch // world_size
    room = memory_budget - fixed // per_sample
    if room < 1:
        raise ValueError("no sample fits")
    b = next(b for b in range(min(room, share), 0, -1) if share % b == 0)
    return {"micro_batch_size": b, "accumulation_steps": share // b, "effective_batch": recipe_batch}
