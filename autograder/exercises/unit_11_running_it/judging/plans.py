"""Plans of a run: the one with the largest micro-batch, and what wrong functions plan."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from autograder.judging.calls import RAISES

Plan = dict[str, float]


class Call(NamedTuple):
    """What a plan is made for: the recipe's batch, a budget in bytes, fixed bytes, bytes per sample, and a number of ranks."""

    batch: int
    budget: float
    fixed: float
    per_sample: float
    ranks: int

    @property
    def share(self) -> int:
        """Samples of the batch for each rank."""
        return self.batch // self.ranks

    @property
    def room(self) -> int:
        """Samples that fit into the budget."""
        return int((self.budget - self.fixed) // self.per_sample)

    @property
    def alone(self) -> Call:
        """The same for a single rank."""
        return self._replace(ranks=1)


def plan(recipe_batch: int, memory_budget: float, fixed: float, per_sample: float, world_size: int) -> object:
    """The plan with the largest micro-batch that divides a rank's share and fits; :data:`RAISES` if there is none."""
    due = _plan(Call(recipe_batch, memory_budget, fixed, per_sample, world_size))
    return RAISES if due is None else due


def _plan(call: Call) -> Plan | None:
    size = _largest(call)
    return _cut(call.share, size, call.ranks) if size and call.batch % call.ranks == 0 else None


def _largest(call: Call) -> int:
    """The largest micro-batch that divides a share and fits; 0 if none does."""
    return next((size for size in range(min(call.share, call.room), 0, -1) if call.share % size == 0), 0)


def _cut(samples: int, size: int, ranks: int) -> Plan:
    """Samples in micro-batches of a size."""
    return _named(size, samples // size, ranks)


def _named(size: int, steps: float, ranks: int) -> Plan:
    return {"micro_batch_size": size, "accumulation_steps": steps, "effective_batch": size * steps * ranks}


def _powers_of_two(call: Call) -> Plan | None:
    """Double N until it fits and divides."""
    steps = 1
    while call.share % steps or call.share // steps > call.room:
        steps *= 2
        if steps > call.share:
            return None
    return _named(call.share // steps, steps, call.ranks)


def _sizes_of_powers_of_two(call: Call) -> Plan:
    size = 1
    while call.share % (2 * size) == 0 and 2 * size <= call.room:
        size *= 2
    return _cut(call.share, size, call.ranks)


def _filling(call: Call, steps_of: Callable[[int, int], float], divides: int = 0) -> Plan:
    """The largest size that fits, whether or not it divides a share; it may have to divide another number."""
    size = next(size for size in range(min(call.share, call.room), 0, -1) if divides % size == 0)
    return _named(size, steps_of(call.share, size), call.ranks)


def _or_nothing(call: Call) -> Plan | None:
    """The largest size that fits; no plan if it does not divide."""
    size = min(call.share, call.room)
    return None if call.share % size else _cut(call.share, size, call.ranks)


def _dividing_the_recipe(call: Call, steps_of: Callable[[int, int], float]) -> Plan:
    """The largest size that fits and divides what all ranks read together, with N from that and what they read at a time."""
    size = _largest(call.alone)
    return _named(size, steps_of(call.batch, size * call.ranks), call.ranks)


def _dividing_the_recipe_or_nothing(call: Call) -> Plan | None:
    size = _largest(call.alone)
    return None if call.batch % (size * call.ranks) else _cut(call.share, size, call.ranks)


_ROUNDED: tuple[Callable[[int, int], float], ...] = (
    lambda a, b: a // b,
    lambda a, b: max(1, a // b),
    lambda a, b: -(-a // b),
    lambda a, b: a / b,
)

_WRONG: dict[str, tuple[Callable[[Call], Plan | None], ...]] = {
    "plan-for-one-rank": (
        lambda call: _cut(call.batch, _largest(call.alone), call.ranks),
        lambda call: _plan(call.alone),
        lambda call: _cut(call.batch, _largest(call), 1),
        lambda call: _cut(call.batch, _largest(call), call.ranks),
    ),
    "micro-batch-of-all-ranks": (
        lambda call: _cut(call.share, _largest(call), call.ranks) | {"micro_batch_size": _largest(call) * call.ranks},
    ),
    "budget-divided-among-ranks": (lambda call: _plan(call._replace(budget=call.budget / call.ranks)),),
    "budget-of-all-ranks": (lambda call: _plan(call._replace(budget=call.budget * call.ranks)),),
    "powers-of-two-only": (_powers_of_two, _sizes_of_powers_of_two),
    "not-the-largest": (lambda call: _cut(call.share, 1, call.ranks),),
    "budget-ignored": (lambda call: _cut(call.share, call.share, call.ranks),),
    "does-not-divide": (
        *(lambda call, f=f: _filling(call, f) for f in _ROUNDED),
        *(lambda call, f=f: _filling(call, f) | {"effective_batch": call.batch} for f in _ROUNDED),
    ),
    "largest-or-nothing": (_or_nothing,),
    "size-divides-recipe-only": (
        *(lambda call, f=f: _dividing_the_recipe(call, f) | {"effective_batch": call.batch} for f in _ROUNDED),
        *(lambda call, f=f: _dividing_the_recipe(call, f) for f in _ROUNDED),
        *(lambda call, f=f: _filling(call, f, divides=call.batch) | {"effective_batch": call.batch} for f in _ROUNDED),
        *(lambda call, f=f: _filling(call, f, divides=call.batch) for f in _ROUNDED),
        _dividing_the_recipe_or_nothing,
    ),
    "fixed-forgotten": (lambda call: _plan(call._replace(fixed=0)),),
    "budget-not-used-up": (lambda call: _plan(call._replace(budget=call.budget - 1)),),
    "effective-batch-of-one-rank": (
        lambda call: _cut(call.share, _largest(call), call.ranks) | {"effective_batch": call.share},
    ),
}


def _where_there_is_a_plan(formula: Callable[[Call], Plan | None]) -> Callable[..., object]:
    """What a wrong formula says where a plan exists. Where none does, every answer is the same mistake."""

    def answer(*arguments: int) -> object:
        call = Call(*arguments)
        found = formula(call) if _plan(call) else None
        return RAISES if found is None else found

    return answer


WRONG_PLANS = {slug: tuple(map(_where_there_is_a_plan, formulas)) for slug, formulas in _WRONG.items()}
"""For each mistake what functions that make it plan instead."""


def _halving(call: Call) -> Plan | None:
    size = call.share
    while size > call.room:
        size = size // 2 if size % 2 == 0 else min(1, size - 1)  # what cannot be halved is given up for a single sample
    return _cut(call.share, size, call.ranks) if size and call.share % size == 0 else None


def _halving_down(call: Call) -> Plan | None:
    size = call.share
    while size > call.room:
        size //= 2
    return _cut(call.share, size, call.ranks) if size else None


def _halving_until_it_divides(call: Call) -> Plan | None:
    size = call.share
    while size and (size > call.room or call.share % size):
        size //= 2
    return _cut(call.share, size, call.ranks) if size else None


def _with_reserve(call: Call, kept: float) -> Plan | None:
    return _plan(call._replace(budget=call.budget * kept))


def _with_no_more_steps(call: Call, most: int) -> Plan | None:
    due = _plan(call)
    return due if due and due["accumulation_steps"] <= most else None


def _with_even_steps(call: Call) -> Plan | None:
    sizes = [size for size in range(1, call.share + 1) if size == call.share or call.share % (2 * size) == 0]
    fine = [size for size in sizes if size <= call.room]
    return _cut(call.share, fine[-1], call.ranks) if fine else None


def _among(call: Call, sizes: range) -> Plan | None:
    """The plan with the largest of these sizes that fits and divides a share."""
    fine = [size for size in sizes if call.share % size == 0 and size <= call.room]
    return _cut(call.share, fine[-1], call.ranks) if fine else None


def _common_divisor(call: Call) -> Plan:
    return _cut(call.share, math.gcd(call.share, min(call.share, call.room)), call.ranks)


def _with_room(call: Call, rounded: Callable[[float], int]) -> Plan | None:
    """The plan if the samples that there is room for are rounded in this way."""
    return _plan(call._replace(budget=call.fixed + call.per_sample * rounded((call.budget - call.fixed) / call.per_sample)))


def _split(call: Call, size: int) -> Plan:
    """The plan of one device for all, with smaller micro-batches on each rank."""
    return _named(size, call.batch // _largest(call.alone), call.ranks)


def _turned_round(call: Call) -> Plan:
    due = _cut(call.share, _largest(call), call.ranks)
    return due | {"micro_batch_size": due["accumulation_steps"], "accumulation_steps": due["micro_batch_size"]}


_IN_WORDS: dict[str, tuple[Callable[[Call], Plan | None], ...]] = {
    "B and N have changed places in your plan.": (_turned_round,),
    "You only halve a rank's share again and again, and miss all other sizes.": (
        _halving,
        _halving_down,
        _halving_until_it_divides,
        lambda call: (found := _halving_down(call)) and found | {"effective_batch": call.batch},
    ),
    "You never choose a micro-batch of a single sample.": (lambda call: _among(call, range(2, call.share + 1)),),
    "You refuse to plan where each rank reads a single sample.": (lambda call: _plan(call) if call.share > 1 else None,),
    "Your micro-batch is the greatest common divisor of the share and the samples there is room for.": (_common_divisor,),
    "You plan for a single device and then divide its micro-batch among the ranks.": (
        lambda call: _plan(call.alone) and _split(call, max(1, _largest(call.alone) // call.ranks)),
    ),
    "You never put a rank's share into one micro-batch, even where it fits.": (
        lambda call: _among(call, range(1, call.share)),
        lambda call: _among(call, range(1, call.share)) or _cut(call.share, call.share, call.ranks),
    ),
    "You pay the fixed bytes once for each rank, although every rank has memory of its own.": (
        lambda call: _plan(call._replace(fixed=call.fixed * call.ranks)),
    ),
    "With several ranks you pay too few fixed bytes, as if they were divided among the ranks. Every rank needs all of them.": (
        lambda call: _plan(call._replace(fixed=call.fixed / call.ranks)),
    ),
    "You only plan where a rank's whole share fits at once, as if its micro-batches were in memory together.": (
        lambda call: _plan(call) if call.share <= call.room else None,
    ),
    "You never try a micro-batch larger than the square root of a rank's share.": (
        lambda call: _among(call, range(1, math.isqrt(call.share) + 1)),
    ),
    "You prefer a micro-batch that is a multiple of 8 to a larger one that is not.": (
        lambda call: _among(call, range(8, call.share + 1, 8)) or _plan(call),
    ),
    "You pay the fixed bytes again for each sample, although they are needed once.": (
        lambda call: _plan(call._replace(fixed=0, per_sample=call.fixed + call.per_sample)),
    ),
    "You leave a part of the budget unused, as if you kept a reserve.": tuple(
        partial(_with_reserve, kept=kept) for kept in (0.9, 0.8)
    ),
    "Where the budget ends in the middle of a sample, your sizes are sometimes as if you counted that sample as well.": (
        lambda call: _with_room(call, round),
        lambda call: _with_room(call, math.ceil),
    ),
    "You stop at the first number of samples that does not divide a rank's share, although a larger one may.": (
        lambda call: _among(call, range(1, next(size for size in itertools.count(2) if call.share % size))),
    ),
    "You want N to be even, although it may be any number.": (_with_even_steps,),
    "You never try a micro-batch of very many samples, although it fits.": tuple(
        partial(_among, sizes=range(1, most + 1)) for most in (64, 100, 128, 256, 500, 512, 1000, 1024, 2000)
    ),
    "You find no plan that needs very many steps.": tuple(
        partial(_with_no_more_steps, most=most) for most in (32, 64, 100, 128, 200, 256, 500, 512, 1000, 1024, 2000)
    ),
}

PLANS_IN_WORDS = {words: tuple(map(_where_there_is_a_plan, formulas)) for words, formulas in _IN_WORDS.items()}
"""Rarer plans, by how they are made."""
