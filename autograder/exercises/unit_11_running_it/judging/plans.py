"""Plans of a run: the one with the largest micro-batch, and what wrong functions plan."""

from __future__ import annotations

import math
from collections.abc import Callable

from autograder.judging.calls import RAISES

Plan = dict[str, float]
Formula = Callable[[int, float, float, float, int], Plan | None]
"""Plans for a batch of the recipe, a budget in bytes, fixed bytes, bytes per sample and a number of ranks; None to refuse."""


def plan(recipe_batch: int, memory_budget: float, fixed: float, per_sample: float, world_size: int) -> object:
    """The plan with the largest micro-batch that divides a rank's share and fits; :data:`RAISES` if there is none."""
    return _or_raises(_due(recipe_batch, memory_budget, fixed, per_sample, world_size))


def _or_raises(found: Plan | None) -> object:
    return RAISES if found is None else found


def _due(batch: int, budget: float, fixed: float, each: float, ranks: int) -> Plan | None:
    share, uneven = divmod(batch, ranks)
    size = None if uneven else _largest(share, budget, fixed, each)
    return None if size is None else _named(size, share // size, ranks)


def _largest(share: int, budget: float, fixed: float, each: float) -> int | None:
    """The largest micro-batch that divides a share and fits."""
    room = _room(budget, fixed, each)
    return next((size for size in range(min(share, room), 0, -1) if share % size == 0), None)


def _room(budget: float, fixed: float, each: float) -> int:
    """Samples that fit."""
    return math.floor((budget - fixed) / each)


def _named(size: int, steps: float, ranks: int) -> Plan:
    return {"micro_batch_size": size, "accumulation_steps": steps, "effective_batch": size * steps * ranks}


def _where_there_is_a_plan(formula: Formula) -> Callable[[int, float, float, float, int], object]:
    """What a wrong formula says where a plan exists. Where none does, every answer is the same mistake."""

    def answer(batch: int, budget: float, fixed: float, each: float, ranks: int) -> object:
        exists = _due(batch, budget, fixed, each, ranks) is not None
        return _or_raises(formula(batch, budget, fixed, each, ranks) if exists else None)

    return answer


def _size_due(share: int, budget: float, fixed: float, each: float) -> int:
    """The same as :func:`_largest`, where a plan exists: then a micro-batch of one sample fits."""
    size = _largest(share, budget, fixed, each)
    assert size is not None
    return size


def _for_one_rank(batch: int, budget: float, fixed: float, each: float, ranks: int) -> Plan:
    size = _size_due(batch, budget, fixed, each)
    return _named(size, batch // size, ranks)


def _for_one_rank_alone(batch: int, budget: float, fixed: float, each: float, ranks: int) -> Plan | None:
    return _due(batch, budget, fixed, each, 1)


def _steps_for_one_rank(batch: int, budget: float, fixed: float, each: float, ranks: int) -> Plan:
    size = _size_due(batch // ranks, budget, fixed, each)
    return _named(size, batch // size, 1)


def _steps_for_one_rank_times_ranks(batch: int, budget: float, fixed: float, each: float, ranks: int) -> Plan:
    size = _size_due(batch // ranks, budget, fixed, each)
    return _named(size, batch // size, ranks)


def _sizes_added_up(batch: int, budget: float, fixed: float, each: float, ranks: int) -> Plan:
    size = _size_due(batch // ranks, budget, fixed, each)
    return _named(size, batch // ranks // size, ranks) | {"micro_batch_size": size * ranks}


def _per_rank(batch: int, budget: float, fixed: float, each: float, ranks: int) -> Plan:
    size = _size_due(batch // ranks, budget, fixed, each)
    return _named(size, batch // ranks // size, ranks) | {"effective_batch": batch // ranks}


def _powers_of_two(batch: int, budget: float, fixed: float, each: float, ranks: int) -> Plan | None:
    """Double N until it fits and divides."""
    share, steps = batch // ranks, 1
    while share % steps or share // steps > _room(budget, fixed, each):
        steps *= 2
        if steps > share:
            return None
    return _named(share // steps, steps, ranks)


def _sizes_of_powers_of_two(batch: int, budget: float, fixed: float, each: float, ranks: int) -> Plan:
    share, size = batch // ranks, 1
    while share % (2 * size) == 0 and 2 * size <= _room(budget, fixed, each):
        size *= 2
    return _named(size, share // size, ranks)


def _fill(batch: int, budget: float, fixed: float, each: float, ranks: int) -> Plan:
    share = batch // ranks
    size = min(share, _room(budget, fixed, each))
    return _named(size, math.ceil(share / size), ranks)


def _or_nothing(batch: int, budget: float, fixed: float, each: float, ranks: int) -> Plan | None:
    """The largest size that fits; no plan if it does not divide."""
    share = batch // ranks
    size = min(share, _room(budget, fixed, each))
    return None if share % size else _named(size, share // size, ranks)


def _dividing_the_recipe(steps_of: Callable[[int, int], float], multiplied: bool) -> Formula:
    """The largest size that fits and divides what all ranks read together.

    Args:
        steps_of: N, from the recipe's batch and the samples that all ranks read at a time.
        multiplied: whether the effective batch is what size, N and ranks come to, or simply the recipe's.
    """

    def formula(batch: int, budget: float, fixed: float, each: float, ranks: int) -> Plan:
        size = _size_due(batch, budget, fixed, each)
        found = _named(size, steps_of(batch, size * ranks), ranks)
        return found if multiplied else found | {"effective_batch": batch}

    return formula


def _dividing_the_recipe_or_nothing(batch: int, budget: float, fixed: float, each: float, ranks: int) -> Plan | None:
    size = _size_due(batch, budget, fixed, each)
    return None if batch % (size * ranks) else _named(size, batch // (size * ranks), ranks)


_ROUNDED: tuple[Callable[[int, int], float], ...] = (
    lambda a, b: a // b,
    lambda a, b: max(1, a // b),
    lambda a, b: -(-a // b),
    lambda a, b: a / b,
)

_WRONG: dict[str, tuple[Formula, ...]] = {
    "plan-for-one-rank": (_for_one_rank, _for_one_rank_alone, _steps_for_one_rank, _steps_for_one_rank_times_ranks),
    "micro-batch-of-all-ranks": (_sizes_added_up,),
    "budget-divided-among-ranks": (lambda batch, budget, fixed, each, ranks: _due(batch, budget / ranks, fixed, each, ranks),),
    "budget-of-all-ranks": (lambda batch, budget, fixed, each, ranks: _due(batch, budget * ranks, fixed, each, ranks),),
    "powers-of-two-only": (_powers_of_two, _sizes_of_powers_of_two),
    "not-the-largest": (lambda batch, budget, fixed, each, ranks: _named(1, batch // ranks, ranks),),
    "budget-ignored": (lambda batch, budget, fixed, each, ranks: _named(batch // ranks, 1, ranks),),
    "does-not-divide": (_fill,),
    "largest-or-nothing": (_or_nothing,),
    "size-divides-recipe-only": (
        *(_dividing_the_recipe(rounded, multiplied=False) for rounded in _ROUNDED),
        *(_dividing_the_recipe(rounded, multiplied=True) for rounded in _ROUNDED),
        _dividing_the_recipe_or_nothing,
    ),
    "fixed-forgotten": (lambda batch, budget, fixed, each, ranks: _due(batch, budget, 0, each, ranks),),
    "budget-not-used-up": (lambda batch, budget, fixed, each, ranks: _due(batch, budget - 1, fixed, each, ranks),),
    "effective-batch-of-one-rank": (_per_rank,),
}

WRONG_PLANS = {slug: tuple(map(_where_there_is_a_plan, formulas)) for slug, formulas in _WRONG.items()}
"""For each mistake what functions that make it plan instead."""
