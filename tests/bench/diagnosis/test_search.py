"""The search for mistakes, on ways to compute a mean."""

from __future__ import annotations

import math
import operator
from typing import NamedTuple

import pytest

from gradaccum.diagnosis.search import (
    Candidate,
    combinations,
    each_alone,
    fewest_first,
    first_match,
    merged,
    pairs,
    simplest_matches,
)


class MeanVariant(NamedTuple):
    """One way to compute a mean: which numbers are taken, what their sum is divided by, and how often."""

    taken: str = "all"
    divisor: str = "count"
    twice: bool = False


CHOICES = {
    "divisor": {"count": (), "count - 1": ("off-by-one",), "nothing": ("not-divided",)},
    "taken": {"all": (), "all but the first": ("first-forgotten",), "all, backwards": ()},
    "twice": {False: (), True: ("divided-twice",)},
}

TRIALS = ((1.0, 2.0, 4.0), (3.0, 5.0, 10.0, 40.0))


def play(variant: MeanVariant, numbers: tuple[float, ...]) -> float:
    taken = {"all": numbers, "all but the first": numbers[1:], "all, backwards": numbers[::-1]}[variant.taken]
    divisor = {"count": len(numbers), "count - 1": len(numbers) - 1, "nothing": 1}[variant.divisor]
    return sum(taken) / (divisor**2 if variant.twice else divisor)


def is_distinct(variant: MeanVariant) -> bool:
    return variant.taken != "all, backwards"


def moot(variant: MeanVariant) -> tuple[str, ...]:
    """Dividing by nothing twice is the same as doing it once."""
    return ("divided-twice",) if variant.divisor == "nothing" else ()


def candidates(**options) -> tuple[Candidate[MeanVariant], ...]:
    return combinations(MeanVariant, CHOICES, **{"is_distinct": is_distinct, "moot": moot, **options})


def found(variant: MeanVariant) -> dict[tuple[float, ...], float]:
    return {numbers: play(variant, numbers) for numbers in TRIALS}


def named(results: dict[tuple[float, ...], float]) -> tuple[str, ...] | None:
    match = first_match(candidates(), results, play, math.isclose)
    return match.mistakes if match else None


def test_all_distinct_combinations_of_choices_are_candidates():
    variants = [candidate.variant for candidate in candidates()]
    assert len(variants) == len(set(variants)) == 3 * 2 * 2
    assert all(map(is_distinct, variants))


def test_candidates_come_fewest_mistakes_first_beginning_with_the_right_one():
    counts = [len(candidate.mistakes) for candidate in candidates()]
    assert candidates()[0] == (MeanVariant(), ())
    assert counts == sorted(counts)
    assert counts[-1] == 3


def test_equally_many_mistakes_keep_the_order_of_attributes_and_choices():
    single = [candidate.mistakes[0] for candidate in candidates() if len(candidate.mistakes) == 1]
    assert single == ["divided-twice", "off-by-one", "not-divided", "not-divided", "first-forgotten"]


def test_a_moot_mistake_is_not_counted():
    mistakes = dict(candidates())
    assert mistakes[MeanVariant(divisor="nothing", twice=True)] == ("not-divided",)
    assert mistakes[MeanVariant(divisor="count - 1", twice=True)] == ("off-by-one", "divided-twice")


def test_variants_with_too_many_mistakes_are_left_out():
    assert max(len(candidate.mistakes) for candidate in candidates(max_mistakes=2)) == 2
    assert candidates(max_mistakes=0) == ((MeanVariant(), ()),)


def test_without_restrictions_all_combinations_are_candidates():
    assert len(combinations(MeanVariant, CHOICES)) == 3 * 3 * 2


def test_every_variant_is_named_by_its_mistakes():
    for variant, mistakes in candidates():
        assert named(found(variant)) == mistakes


def test_a_result_that_no_variant_yields_has_no_name():
    assert named(dict.fromkeys(TRIALS, 0.123)) is None


def test_a_match_has_to_fit_every_trial():
    right, wrong = found(MeanVariant()), found(MeanVariant(divisor="count - 1"))
    assert named({TRIALS[0]: right[TRIALS[0]], TRIALS[1]: wrong[TRIALS[1]]}) is None


def test_of_several_explanations_only_those_with_the_fewest_mistakes_are_given():
    numbers = (0.0, 4.0)  # without the first the sum is the same, and dividing by 1 is not dividing
    matches = list(simplest_matches(candidates(), {numbers: 4.0}, play, math.isclose))
    assert [set(match.mistakes) for match in matches] == [{"off-by-one"}, {"not-divided"}, {"not-divided"}]


def test_nothing_is_played_beyond_the_first_match():
    played = []

    def note(variant: MeanVariant, numbers: tuple[float, ...]) -> float:
        played.append(variant)
        return play(variant, numbers)

    match = first_match(candidates(), {TRIALS[0]: play(MeanVariant(), TRIALS[0])}, note, math.isclose)
    assert match == (MeanVariant(), ())
    assert played == [MeanVariant()]


def test_variants_with_more_mistakes_than_a_match_are_not_played():
    played = []

    def note(variant: MeanVariant, numbers: tuple[float, ...]) -> float:
        played.append(variant)
        return play(variant, numbers)

    assert len(list(simplest_matches(candidates(), found(MeanVariant(twice=True)), note, math.isclose))) == 1
    mistakes = dict(candidates())
    assert max(len(mistakes[variant]) for variant in played) == 1


def test_a_mistake_alone_comes_in_all_variants_that_make_it():
    table = {"off-by-one": ("a", "b"), "not-divided": ("c",)}
    assert list(each_alone(table)) == [("a", ("off-by-one",)), ("b", ("off-by-one",)), ("c", ("not-divided",))]
    assert list(each_alone(table, ["not-divided"])) == [("c", ("not-divided",))]


def test_a_variant_may_be_a_function_that_plays_itself():
    formulas = {"maximum": (max,), "minimum": (min,)}
    match = first_match(each_alone(formulas), {(1, 5): 1}, lambda formula, numbers: formula(numbers), operator.eq)
    assert match == (min, ("minimum",))


def test_pairs_have_the_changes_and_the_mistakes_of_both():
    first = [Candidate(MeanVariant(), ()), Candidate(MeanVariant(divisor="nothing"), ("not-divided",))]
    second = list(each_alone({"first-forgotten": [MeanVariant(taken="all but the first")]}))
    assert list(pairs(first, second)) == [
        (MeanVariant(taken="all but the first"), ("first-forgotten",)),
        (MeanVariant(taken="all but the first", divisor="nothing"), ("not-divided", "first-forgotten")),
    ]


def test_pairs_that_make_no_sense_together_are_left_out():
    both = [Candidate(MeanVariant(), ()), Candidate(MeanVariant(twice=True), ("divided-twice",))]
    left = pairs(both, both, can_meet=lambda one, other: one != other)
    assert [candidate.mistakes for candidate in left] == [("divided-twice",), ("divided-twice",)]


@pytest.mark.parametrize(
    ("one", "other", "due"),
    [
        (MeanVariant(twice=True), MeanVariant(), MeanVariant(twice=True)),
        (MeanVariant(), MeanVariant(twice=True), MeanVariant(twice=True)),
        (MeanVariant(divisor="nothing"), MeanVariant(divisor="count - 1"), MeanVariant(divisor="count - 1")),
    ],
)
def test_merging_takes_over_what_is_not_right(one, other, due):
    assert merged(one, other) == due


def test_sorting_by_mistakes_keeps_the_order_of_equals():
    unsorted = [Candidate("a", ("x", "y")), Candidate("b", ("x",)), Candidate("c", ()), Candidate("d", ("y",))]
    assert [candidate.variant for candidate in fewest_first(unsorted)] == ["c", "b", "d", "a"]
