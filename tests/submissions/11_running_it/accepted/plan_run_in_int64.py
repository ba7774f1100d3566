"""Tries all steps at once in a tensor, whose integers end at 2**63."""

import torch

EXERCISE = "plan_run"


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    if recipe_batch % world_size:
        raise ValueError("the recipe's batch cannot be cut evenly")
    share = recipe_batch // world_size
    steps = torch.arange(1, share + 1)
    steps = steps[share % steps == 0]
    steps = steps[fixed + per_sample * (share // steps) <= memory_budget]
    if len(steps) == 0:
        raise ValueError("not even micro-batches of one sample fit")
    fewest = steps.min().item()
    return {
        "micro_batch_size": share // fewest,
        "accumulation_steps": fewest,
        "effective_batch": share // fewest * fewest * world_size,
    }
