"""Returns a pair instead of a dictionary, and refuses nothing."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan", "ranks", "refusal")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share = recipe_batch // world_size
    for size in range(share, 0, -1):
        if share % size == 0 and fixed + per_sample * size <= memory_budget:
            return size, share // size
