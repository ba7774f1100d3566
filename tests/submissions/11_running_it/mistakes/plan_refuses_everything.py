"""Refuses everything."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("plan", "ranks", "refusal")


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    raise ValueError("this cannot be planned")
