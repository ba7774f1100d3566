"""Refuses to plan where no sample fits only if the fixed bytes leave room for none, not if they are too many themselves."""

EXERCISE = "plan_run"
MISTAKES = ()
LOST = ("refusal",)


def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    share, rest = divmod(recipe_batch, world_size)
    room = (memory_budget - fixed) // per_sample
    if rest or room == 0:
        raise ValueError("There is no such plan.")
    size = max((b for b in range(1, share + 1) if share % b == 0 and b <= room), default=1)
    return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
