"""Dividing an effective batch into micro-batches that fit into a budget: the plan that is due, and those that mistakes give.

Each formula takes a call's arguments, ``(effective_batch, budget, fixed, per_sample)`` in samples and bytes, and returns
``(micro_batch_size, accumulation_steps)``, or :data:`~autograder.judging.calls.RAISES` where nothing fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from autograder.judging.calls import RAISES, Formula

Plan = tuple[float, float] | object
"""Micro-batch size and accumulation steps, or ``RAISES``."""


def plan(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    """The plan with the largest micro-batch that divides the effective batch and fits."""
    return _largest(effective, lambda size: size <= _room(budget, fixed, per_sample))


def _room(budget: int, fixed: int, per_sample: int) -> int:
    """How many samples fit at a time."""
    return (budget - fixed) // per_sample


def _largest(effective: int, fits: Callable[[int], bool]) -> Plan:
    """The plan with the largest size that divides the effective batch and for which ``fits`` holds."""
    fitting = [size for size in range(1, effective + 1) if effective % size == 0 and fits(size)]
    return (fitting[-1], effective // fitting[-1]) if fitting else RAISES


def _turned_round(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    right = plan(effective, budget, fixed, per_sample)
    return right[::-1] if isinstance(right, tuple) else right


def _whole_batch(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    return effective, 1


def _single_samples(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    return 1, effective


def _halves(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    """Halve until it fits, as trainers that want powers of two do."""
    size = effective
    while size > max(1, _room(budget, fixed, per_sample)):
        size //= 2
    return size, effective // size


def _halves_to_a_divisor(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    """Halve until it fits and divides."""
    size = effective
    while size > 1 and (size > _room(budget, fixed, per_sample) or effective % size):
        size //= 2
    return size, effective // size


def _halves_or_single_samples(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    """Halve as long as there is no remainder; if nothing fits until then, take single samples."""
    room, size = _room(budget, fixed, per_sample), effective
    while size > room and size % 2 == 0:
        size //= 2
    if size > room:
        size = 1
    return (size, effective // size) if size <= room else RAISES


def _fill(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    size = min(effective, _room(budget, fixed, per_sample))
    return size, math.ceil(effective / size)


def _fill_and_drop(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    size = min(effective, _room(budget, fixed, per_sample))
    return size, effective // size


def _fill_in_fractions(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    size = min(effective, _room(budget, fixed, per_sample))
    return size, effective / size


def _pay_fixed_again(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    return _largest(effective, lambda size: effective // size * fixed + per_sample * size <= budget)


def _whole_or_nothing(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    """This is also the result if all micro-batches together have to fit: N · (fixed + per sample · B) is least for N = 1."""
    return _largest(effective, lambda size: size == effective <= _room(budget, fixed, per_sample))


def _largest_or_nothing(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    room = _room(budget, fixed, per_sample)
    return _largest(effective, lambda size: size == min(effective, room))


def _not_whole_batch(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    room = _room(budget, fixed, per_sample)
    return _largest(effective, lambda size: size < effective and size <= room)


def _without_fixed(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    return plan(effective, budget, 0, per_sample)


def _not_to_the_last_byte(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    return plan(effective, budget - 1, fixed, per_sample)


def _powers_of_two(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    room = _room(budget, fixed, per_sample)
    return _largest(effective, lambda size: size & (size - 1) == 0 and size <= room)


def _several(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    room = _room(budget, fixed, per_sample)
    return _largest(effective, lambda size: 1 < size <= room)


def _common_divisor(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    size = math.gcd(effective, min(effective, _room(budget, fixed, per_sample)))
    return size, effective // size


def _up_to_the_root(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    room = _room(budget, fixed, per_sample)
    return _largest(effective, lambda size: size <= min(room, math.isqrt(effective)))


def _fixed_for_each_sample(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    return _largest(effective, lambda size: (fixed + per_sample) * size <= budget)


def _share_of_fixed(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    return _largest(effective, lambda size: fixed * size / effective + per_sample * size <= budget)


def _up_to_a_gap(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    size = 1
    while effective % (size + 1) == 0 and size < _room(budget, fixed, per_sample):
        size += 1
    return size, effective // size


def _budget_above_zero(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    return plan(effective, budget, fixed, per_sample) if budget > 0 else RAISES


def _with_steps_up_to(most: int) -> Formula:
    def formula(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
        right = plan(effective, budget, fixed, per_sample)
        return right if isinstance(right, tuple) and right[1] <= most else RAISES

    return formula


def _factor_by_factor(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
    """Multiply prime factors into the size, from the smallest on, as long as it fits."""
    size, rest, factor = 1, effective, 2
    while rest > 1:
        while rest % factor == 0:
            rest //= factor
            if size * factor <= _room(budget, fixed, per_sample):
                size *= factor
        factor += 1
    return size, effective // size


def _with_reserve(share: float) -> Formula:
    return lambda effective, budget, fixed, per_sample: plan(effective, int((1 - share) * budget), fixed, per_sample)


def _where_something_fits(formula: Callable[[int, int, int, int], Plan]) -> Formula:
    """A wrong formula where a plan exists. Where none does, every answer is the same mistake."""

    def restricted(effective: int, budget: int, fixed: int, per_sample: int) -> Plan:
        call = effective, budget, fixed, per_sample
        return RAISES if plan(*call) is RAISES else formula(*call)

    return restricted


WRONG_PLANS: dict[str, tuple[Formula, ...]] = {
    slug: tuple(map(_where_something_fits, formulas))
    for slug, formulas in {
        "plan-turned-round": (_turned_round,),
        "budget-ignored": (_whole_batch,),
        "not-the-largest": (_single_samples,),
        "halves-only": (_halves, _halves_to_a_divisor, _halves_or_single_samples),
        "does-not-divide": (_fill, _fill_and_drop, _fill_in_fractions),
        "fixed-for-each": (_pay_fixed_again,),
        "whole-batch-or-nothing": (_whole_or_nothing,),
        "smaller-sizes-not-tried": (_largest_or_nothing,),
        "whole-batch-not-tried": (_not_whole_batch,),
        "fixed-forgotten": (_without_fixed,),
        "budget-not-used-up": (_not_to_the_last_byte,),
        "power-of-two-sizes-only": (_powers_of_two,),
        "single-sample-not-tried": (_several,),
        "common-divisor-of-room": (_common_divisor,),
        "divisors-up-to-root": (_up_to_the_root,),
        "fixed-for-each-sample": (_fixed_for_each_sample,),
        "budget-of-zero-refused": (_budget_above_zero,),
    }.items()
}
"""By mistake, the formulas that make it."""

PLANS_IN_WORDS: dict[str, tuple[Formula, ...]] = {
    "You refuse what takes more than some number of accumulation steps.": tuple(
        map(_where_something_fits, map(_with_steps_up_to, (8, 16, 32, 36, 64, 100, 128, 256, 500, 512, 1000, 1024, 2000)))
    ),
    "You multiply prime factors as long as their product fits. Other products of them may be larger and fit as well.": (
        _where_something_fits(_factor_by_factor),
    ),
    "You raise an error for a negative fixed part, although it may be negative.": (
        _where_something_fits(lambda *call: plan(*call) if call[2] >= 0 else RAISES),
    ),
    "You count a negative fixed part as a positive one.": (
        _where_something_fits(lambda effective, budget, fixed, each: plan(effective, budget, abs(fixed), each)),
    ),
    "You divide the fixed part among the micro-batches, although each of them needs all of it.": (
        _where_something_fits(_share_of_fixed),
    ),
    "Your plans are as if you went up from 1 and stopped at the first size that does not divide, although a larger one may.": (
        _where_something_fits(_up_to_a_gap),
    ),
    "You count a negative fixed part as zero.": (
        _where_something_fits(lambda effective, budget, fixed, each: plan(effective, budget, max(0, fixed), each)),
    ),
    "You plan as if you computed with floats, which keep only 16 digits: your micro-batch may not fit if bytes are many.": (
        _where_something_fits(lambda effective, budget, fixed, each: plan(effective, int((budget - fixed) / each), 0, 1)),
    ),
    "Where you lose points, your plans for a budget above 0 are those of a slightly smaller one.": tuple(
        _where_something_fits(_with_reserve(share)) for share in (0.001, 0.01, 0.02, 0.05, 0.1)
    ),
}
"""Rarer plans, by how they are made."""
