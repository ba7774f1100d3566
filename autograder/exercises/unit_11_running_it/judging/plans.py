"""Plans of a run: the one with the largest micro-batch, and what wrong ways to plan come to."""

from __future__ import annotations

import math

from autograder.judging.calls import RAISES


def plan(recipe_batch, memory_budget, fixed, per_sample, world_size):
    """The plan with the largest micro-batch that divides a rank's share and fits; :data:`RAISES` where there is none."""
    share, uneven = divmod(recipe_batch, world_size)
    sizes = [b for b in range(1, share + 1) if share % b == 0 and b <= _room(memory_budget, fixed, per_sample)]
    return RAISES if uneven or not sizes else _named(sizes[-1], share // sizes[-1], world_size)


def _named(size, steps, world_size):
    return {"micro_batch_size": size, "accumulation_steps": steps, "effective_batch": size * steps * world_size}


def _room(budget, fixed, per_sample) -> int:
    return math.floor((budget - fixed) / per_sample)


def _where_there_is_a_plan(formula):
    """What a wrong formula says where a plan exists. Where none does, every answer is the same mistake."""
    return lambda *call: RAISES if plan(*call) is RAISES else formula(*call)


def _for_one_rank(batch, budget, fixed, per_sample, world_size):
    due = plan(batch, budget, fixed, per_sample, 1)
    return RAISES if due is RAISES else _named(due["micro_batch_size"], due["accumulation_steps"], world_size)


def _for_one_rank_alone(batch, budget, fixed, per_sample, world_size):
    return plan(batch, budget, fixed, per_sample, 1)


def _steps_for_one_rank(batch, *call):
    size = plan(batch, *call)["micro_batch_size"]
    return _named(size, batch // size, 1)


def _steps_for_one_rank_times_ranks(batch, *call):
    size = plan(batch, *call)["micro_batch_size"]
    return _named(size, batch // size, call[-1])


def _sizes_added_up(*call):
    due = plan(*call)
    return due | {"micro_batch_size": due["micro_batch_size"] * call[-1]}


def _per_rank(*call):
    due = plan(*call)
    return due | {"effective_batch": due["effective_batch"] // call[-1]}


def _powers_of_two(batch, budget, fixed, per_sample, world_size):
    """Double N until it fits and divides."""
    share, steps = batch // world_size, 1
    while share % steps or share // steps > _room(budget, fixed, per_sample):
        steps *= 2
        if steps > share:
            return RAISES
    return _named(share // steps, steps, world_size)


def _sizes_of_powers_of_two(batch, budget, fixed, per_sample, world_size):
    share, size = batch // world_size, 1
    while share % (2 * size) == 0 and 2 * size <= _room(budget, fixed, per_sample):
        size *= 2
    return _named(size, share // size, world_size)


def _fill(batch, budget, fixed, per_sample, world_size):
    share = batch // world_size
    size = min(share, _room(budget, fixed, per_sample))
    return _named(size, math.ceil(share / size), world_size)


def _or_nothing(batch, budget, fixed, per_sample, world_size):
    """The largest size that fits; no plan if it does not divide."""
    share = batch // world_size
    size = min(share, _room(budget, fixed, per_sample))
    return RAISES if share % size else _named(size, share // size, world_size)


def _dividing_the_recipe(steps_of, in_effect=lambda batch, size, steps, world_size: batch):
    """The largest size that fits and divides what all ranks read together."""

    def formula(batch, *call):
        size, world_size = plan(batch, *call[:-1], 1)["micro_batch_size"], call[-1]
        steps = steps_of(batch, size * world_size)
        effective = in_effect(batch, size, steps, world_size)
        return {"micro_batch_size": size, "accumulation_steps": steps, "effective_batch": effective}

    return formula


def _dividing_the_recipe_or_nothing(batch, *call):
    size = plan(batch, *call[:-1], 1)["micro_batch_size"]
    return RAISES if batch % (size * call[-1]) else _named(size, batch // (size * call[-1]), call[-1])


_ROUNDED = (lambda a, b: a // b, lambda a, b: max(1, a // b), lambda a, b: -(-a // b), lambda a, b: a / b)


_WRONG = {
    "plan-for-one-rank": (_for_one_rank, _for_one_rank_alone, _steps_for_one_rank, _steps_for_one_rank_times_ranks),
    "micro-batch-of-all-ranks": (_sizes_added_up,),
    "budget-divided-among-ranks": (lambda batch, budget, fixed, each, w: plan(batch, budget / w, fixed, each, w),),
    "budget-of-all-ranks": (lambda batch, budget, fixed, each, w: plan(batch, budget * w, fixed, each, w),),
    "powers-of-two-only": (_powers_of_two, _sizes_of_powers_of_two),
    "not-the-largest": (lambda batch, budget, fixed, each, w: _named(1, batch // w, w),),
    "budget-ignored": (lambda batch, budget, fixed, each, w: _named(batch // w, 1, w),),
    "does-not-divide": (_fill,),
    "largest-or-nothing": (_or_nothing,),
    "size-divides-recipe-only": (
        *(_dividing_the_recipe(rounded) for rounded in _ROUNDED),
        *(_dividing_the_recipe(rounded, lambda batch, size, steps, w: size * steps * w) for rounded in _ROUNDED),
        _dividing_the_recipe_or_nothing,
    ),
    "fixed-forgotten": (lambda batch, budget, fixed, each, w: plan(batch, budget, 0, each, w),),
    "budget-not-used-up": (lambda batch, budget, *rest: plan(batch, budget - 1, *rest),),
    "effective-batch-of-one-rank": (_per_rank,),
}

WRONG_PLANS = {slug: tuple(map(_where_there_is_a_plan, formulas)) for slug, formulas in _WRONG.items()}
"""By slug, what is planned instead."""
