"""How wrong numbers are related to the right ones, in words: whatever all of them show, and nothing more."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from inspect import signature
from itertools import accumulate, combinations
from typing import Any

import torch

from autograder.support.counted import counted
from autograder.support.side_by_side import side_by_side

Numbers = Sequence[float]

SAME = 1e-9
"""Relative difference up to which two numbers are the same."""

ROUND = 1e-6
"""Relative difference up to which a number is a round one, so that one in float32 can be."""

LARGE = 1e100
"""Size from which a number is compared with nothing: whole numbers may be too large for a float."""

CLOSE_BY = 0.02
"""Relative difference below which a wrong number is called close to the right one."""

DECIMALS = range(7)
FIXED = (0, 1, 2, 3, 4, 8, 10, 16, 32, 64, 100, 256, 0.1, 0.5, 0.9, 0.99, 0.999)
"""Numbers that may stand in the place of an argument. More come from the other calls."""

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def relation(found: Numbers, due: Numbers, each: str = "Each of your numbers", tolerance: float = SAME) -> str:
    """How all wrong numbers follow from the right ones, as a sentence; empty if in no known way.

    Args:
        found, due: number by number, at least two different ones due.
        each: what one of the numbers is called, at the beginning of the sentence.
        tolerance: relative difference up to which two numbers are the same.
    """
    if not (_comparable(found, due) and len(set(due)) > 1) or _all_same(found, due, tolerance):
        return ""
    if len(found) > 2 and _all_same(found, [found[0]] * len(found), tolerance):
        number = f"{found[0]:g}" if _all_same(found, [found[0]] * len(found), ROUND) else _in_common(found)
        return f"{each} is {number}, although different ones are due."
    for words, made in _transformed(found, due):
        if _all_same(found, made, tolerance):
            return f"{each} is {words}."
    if all(_differ_by(f, d) < CLOSE_BY for f, d in zip(found, due, strict=True)):
        share = max(_differ_by(f, d) for f, d in zip(found, due, strict=True))
        return f"{each} is close to the one that is due, but they differ by up to {_rounded_up(100 * share):g}% of it."
    return ""


def _rounded_up(number: float) -> float:
    """A positive number, rounded up to one significant digit."""
    digit = 10.0 ** math.floor(math.log10(number))
    return float(f"{math.ceil(number / digit - SAME) * digit:.3g}")


def rows_relation(
    found: Sequence[Numbers], due: Sequence[Numbers], each: str, tolerance: float = SAME, called: str = "epoch"
) -> str:
    """The same for rows of numbers, each ``called`` an epoch or something else: what is so in all rows of several numbers."""
    if [len(row) for row in found] != [len(row) for row in due]:
        return ""
    rows = [(f, d) for f, d in zip(found, due, strict=True) if len(set(d)) > 1]
    every = [(f, d) for f, d in zip(found, due, strict=True) if d]
    for place, k in (("first", 0), ("last", -1)):
        if rows and all(_all_same(f, [d[k]] * len(f), tolerance) for f, d in every):
            return f"{each} is the one that is due {place}{f' in its {called}' if len(due) > 1 else ''}."
    ahead = [(f, [later[0]] * len(f)) for f, later in zip(found, due[1:], strict=False) if later]
    if any(len(set(d)) > 1 for d in due[:-1]) and all(_all_same(f, made, tolerance) for f, made in ahead):
        return f"{each} is the one that is due when the next {called} begins, where one follows."
    if any(len(d) > 2 for _, d in rows) and all(_all_same(f, [f[0], *d[:-1]], tolerance) for f, d in every):
        return f"{each} is the one that was due before it{f' in its {called}' if len(due) > 1 else ''}, except for the first."
    said = {relation(f, d, each, tolerance) for f, d in rows}
    if len(said) == 1 and (words := said.pop()):
        return words
    if rows and all(all(map(_is_number, f)) and _all_same(sorted(f), sorted(d), tolerance) for f, d in every):
        return f"{each} is one that is due, but they are in another order."
    return relation([f for row in found for f in row], [d for row in due for d in row], each, tolerance)


def rows_in_words(found: Sequence[Numbers], due: Sequence[Numbers], each: str, tolerance: float = SAME) -> str:
    """The same, or, if rows as long as those that are due show no relation, the first number that is wrong."""
    if words := rows_relation(found, due, each, tolerance):
        return words
    rows = zip(found, due, strict=False) if [len(row) for row in found] == [len(row) for row in due] else ()
    for epoch, pair in enumerate(rows):
        for k, (one, other) in enumerate(zip(*pair, strict=True)):
            if not _same(one, other, tolerance):
                where = f" of epoch {epoch + 1}" if len(due) > 1 else ""
                yours, right = side_by_side(one, other)
                return f"Number {k + 1}{where} is {yours}, where {right} is due."
    return ""


def call_relation(
    calls: Sequence[tuple[tuple[Any, ...], Mapping[str, Any]]],
    found: Numbers,
    formula: Callable[..., Any],
    tolerance: float = SAME,
    absolute: float = 0.0,
) -> str:
    """The same for calls of a function, whose right numbers a formula gives: also what it makes of other arguments.

    A number that differs from the one due by no more than ``absolute`` is right, too.
    """
    due = _numbers_of(formula, calls)
    if due is None:
        return ""
    if words := relation(found, due, tolerance=tolerance):
        return words
    if not (_comparable(found, due) and len(set(due)) > 1) or _all_same(found, due, tolerance):
        return ""
    for words, others in _with_other_arguments(calls):
        made = _numbers_of(formula, others)
        if made is not None and not _all_same(made, due, tolerance) and _all_same(found, made, tolerance):
            return f"Each of your numbers is the one that is due {words}."
    fine = [math.isclose(f, d, rel_tol=tolerance, abs_tol=absolute) for f, d in zip(found, due, strict=True)]
    return _right_by_argument(_bound(formula, calls), fine)


ONLY_FIRST = (
    "Only the first of several calls returned what was due: either its arguments make the difference, or something is kept "
    "between calls."
)

MAX_LISTED = 8
"""Values of an argument that a sentence lists."""


def _bound(formula: Callable[..., Any], calls: Sequence[tuple[tuple[Any, ...], Mapping[str, Any]]]) -> list[tuple[Any, ...]]:
    """The arguments of each call in the order of the formula's parameters, also those that it gives by name or leaves out."""
    rows = []
    for arguments, named in calls:
        bound = signature(formula).bind(*arguments, **named)
        bound.apply_defaults()
        rows.append(bound.args)
    return rows


def _right_by_argument(calls: Sequence[tuple[Any, ...]], fine: Sequence[bool]) -> str:
    """Which values of an argument decide whether a number is right, as a sentence; empty if those of none do, or of several.

    Numbers differ from call to call anyway, so an argument of another kind decides before them. Only what is as short as a
    word is listed: never tensors or lists.
    """
    if len(fine) > 2 and fine[0] and not any(fine[1:]):
        return ONLY_FIRST
    said: dict[bool, list[str]] = {True: [], False: []}
    for i, ordinal in zip(range(min(map(len, calls))), ORDINALS, strict=False):
        column = [call[i] for call in calls]
        numeric = all(map(_is_number, column))
        if not (numeric or all(isinstance(value, bool | str | torch.dtype) for value in column)):
            continue
        kinds = ({value for value, f in zip(column, fine, strict=True) if f is kind} for kind in (True, False))
        right, wrong = (sorted(values, key=None if numeric else str) for values in kinds)
        if right and wrong and not {*right} & {*wrong} and len(right) + len(wrong) <= MAX_LISTED:
            listed, others = (" or ".join(str(value)[:20] for value in values) for values in (right, wrong))
            said[numeric].append(
                f"Of the calls made here, those whose {ordinal} argument is {listed} are right, "
                f"and those with {others} are wrong."
            )
    deciding = said[False] or said[True]
    return deciding[0] if len(deciding) == 1 else ""


def _transformed(found: Numbers, due: Numbers) -> Iterator[tuple[str, Numbers]]:
    """What may have become of the right numbers, in words, with the numbers this makes."""
    yield "the one that is due with the other sign", [-d for d in due]
    if len(due) > 2 and due[0] and all(due):
        factor = found[0] / due[0]
        yield f"{_factors([f / d for f, d in zip(found, due, strict=True)])} the one that is due", [factor * d for d in due]
    if len(due) > 2:
        more = found[0] - due[0]
        words = f"{_in_common([f - d for f, d in zip(found, due, strict=True)])} {'more' if more > 0 else 'less'}"
        yield f"{words} than the one that is due", [d + more for d in due]
    if all(due):
        yield "1 divided by the one that is due", [1 / d for d in due]
    yield "the square of the one that is due", [d**2 for d in due]
    of_its_size = ", without its sign" if any(d < 0 for d in due) else ""
    yield f"the square root of the one that is due{of_its_size}", [math.sqrt(abs(d)) for d in due]
    yield "the size of the one that is due, without its sign", [abs(d) for d in due]
    if len(due) > 2:
        yield "the one that was due before it, except for the first", [found[0], *due[:-1]]
    yield "the sum of those that are due up to there", list(accumulate(due))
    yield "the mean of those that are due up to there", [total / (k + 1) for k, total in enumerate(accumulate(due))]
    ways: dict[tuple[float, ...], list[str]] = {}
    for words, rounded in _roundings():
        if _all_same(found, [rounded(f) for f in found], ROUND):
            either = words.startswith("cut off") and all(int(d) == round(d) for d in due)
            how = "cut off or rounded to a whole number" if either else words
            ways.setdefault(tuple(map(rounded, due)), []).append(how)
    for made, (how, *others) in ways.items():  # to so many decimals and to so many digits may be the same here
        same = [f" or {other.removeprefix('rounded ')}" for other in others if how.startswith("rounded to")]
        yield f"the one that is due, {how}{''.join(same)}", made
    wrong = [(f, d) for f, d in zip(found, due, strict=True) if not _same(f, d, SAME)]
    if 1 < len(wrong) < len(found) and len({f for f, _ in wrong}) == 1:
        bound = wrong[0][0]
        yield f"the one that is due, but never more than {bound:g}", [min(d, bound) for d in due]
        yield f"the one that is due, but never less than {bound:g}", [max(d, bound) for d in due]


def _in_common(numbers: Sequence[float]) -> str:
    """How large all these numbers are, with the digits that they share."""
    for digits in range(6, 0, -1):
        words = {f"{abs(number):.{digits}g}" for number in numbers}
        if len(words) == 1:
            return f"{'about ' if digits < 6 else ''}{words.pop()}"
    return f"about {abs(numbers[0]):.1g}"


def _roundings() -> Iterator[tuple[str, Callable[[float], float]]]:
    """Ways to round a number, in words."""
    yield "cut off behind the decimal point", lambda d: float(int(d))
    yield "rounded up to a whole number", lambda d: float(math.ceil(d))
    for decimals in DECIMALS:
        yield f"rounded to {counted(decimals, 'decimal')}", partial(round, ndigits=decimals)
        yield f"rounded to {counted(decimals + 1, 'significant digit')}", partial(_significant, decimals=decimals)


def _significant(number: float, decimals: int) -> float:
    return float(f"{number:.{decimals}e}")


def _with_other_arguments(calls: Sequence[tuple[tuple[Any, ...], Mapping[str, Any]]]) -> Iterator[tuple[str, list[Any]]]:
    """What may be taken for an argument, in words, and the calls with that."""
    count = min(len(arguments) for arguments, _ in calls)
    numeric = [i for i in range(min(count, len(ORDINALS))) if all(_is_number(arguments[i]) for arguments, _ in calls)]
    for i in numeric:
        argument = f"{ORDINALS[i]} argument"
        for step, words in ((1, "larger"), (-1, "smaller")):
            yield f"for a {argument} that is 1 {words}", [_replaced(call, i, call[0][i] + step) for call in calls]
        if all(isinstance(call[0][i], int) and call[0][i] > 0 for call in calls):
            words = f"for a {argument} that is rounded down to a power of two"
            yield words, [_replaced(call, i, 2 ** (call[0][i].bit_length() - 1)) for call in calls]
        for bound in (value for value in FIXED if value > 1):
            words = f"for a {argument} that is never more than {bound:g}"
            yield words, [_replaced(call, i, min(call[0][i], bound)) for call in calls]
        whole = all(isinstance(call[0][i], int) for call in calls)
        for value in dict.fromkeys((*FIXED, *(arguments[i] for arguments, _ in calls))):
            if whole and value % 1:  # of whole numbers nobody takes a fraction
                continue
            yield f"for {value:g} as the {argument}, whatever it is", [_replaced(call, i, value) for call in calls]
    for i, j in combinations(numeric, 2):
        words = f"for the {ORDINALS[i]} and the {ORDINALS[j]} argument in each other's place"
        yield words, [_replaced(_replaced(call, i, call[0][j]), j, call[0][i]) for call in calls]
        yield (
            f"for the {ORDINALS[i]} argument in place of the {ORDINALS[j]}, too",
            [_replaced(call, j, call[0][i]) for call in calls],
        )
        yield (
            f"for the {ORDINALS[j]} argument in place of the {ORDINALS[i]}, too",
            [_replaced(call, i, call[0][j]) for call in calls],
        )


def _replaced(call: tuple[tuple[Any, ...], Mapping[str, Any]], position: int, value: Any) -> tuple[tuple[Any, ...], Any]:
    arguments, keywords = call
    return (*arguments[:position], value, *arguments[position + 1 :]), keywords


def _numbers_of(formula: Callable[..., Any], calls: Sequence[tuple[tuple[Any, ...], Mapping[str, Any]]]) -> Numbers | None:
    """What a formula gives for these calls, if that is a number for each."""
    try:
        numbers = [formula(*arguments, **keywords) for arguments, keywords in calls]
    except (TypeError, ValueError, ArithmeticError):  # the formula need not make sense of other arguments
        return None
    return numbers if all(map(_is_number, numbers)) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGE


def _comparable(found: Sequence[object], due: Sequence[object]) -> bool:
    return len(found) == len(due) > 1 and all(map(_is_number, (*found, *due)))


def _same(one: float, other: float, tolerance: float) -> bool:
    return math.isclose(one, other, rel_tol=tolerance)


def _all_same(found: Numbers, others: Numbers, tolerance: float) -> bool:
    return all(_same(f, o, tolerance) for f, o in zip(found, others, strict=True))


def _differ_by(found: float, due: float) -> float:
    return abs(found - due) / abs(due) if due else math.inf if found else 0.0


def _factors(factors: Sequence[float]) -> str:
    """The same for several factors, which may differ a little."""
    if _all_same(factors, [factors[0]] * len(factors), ROUND):
        return _factor(factors[0])
    least, most = (f"{factor:.3g}" for factor in (min(factors), max(factors)))
    return f"{f'about {least}' if least == most else f'{least} to {most}'} times"


def _factor(factor: float) -> str:
    """A factor as a sentence has it: ``3 times``, ``1/1024 of``."""
    for number in (factor, 1 / factor if factor else 0.0):
        if number and math.isfinite(number) and abs(number - round(number)) < 1e-6 * abs(number):
            return f"{round(number)} times" if number == factor else f"1/{round(number)} of"
    return f"{factor:g} times"
