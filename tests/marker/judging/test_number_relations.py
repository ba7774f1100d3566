"""Sentences about wrong numbers say what makes these of the right ones, and are said only if that makes all of them."""

from __future__ import annotations

import math

import pytest
import torch

from autograder.judging.number_relations import call_relation, relation, rows_relation

DUE = [1.25, 3.5, -2.0, 4.0625]
MADE = {
    "Each of your numbers is the one that is due with the other sign.": [-d for d in DUE],
    "Each of your numbers is 3 times the one that is due.": [3 * d for d in DUE],
    "Each of your numbers is 1/1024 of the one that is due.": [d / 1024 for d in DUE],
    "Each of your numbers is 1e-310 times the one that is due.": [d * 1e-310 for d in DUE],  # one over it is infinite
    "Each of your numbers is 1 more than the one that is due.": [d + 1 for d in DUE],
    "Each of your numbers is 2 less than the one that is due.": [d - 2 for d in DUE],
    "Each of your numbers is 1 divided by the one that is due.": [1 / d for d in DUE],
    "Each of your numbers is the square root of the one that is due, without its sign.": [math.sqrt(abs(d)) for d in DUE],
    "Each of your numbers is the one that was due before it, except for the first.": [9.0, 1.25, 3.5, -2.0],
    "Each of your numbers is the mean of those that are due up to there.": [1.25, 2.375, 2.75 / 3, 6.8125 / 4],
    "Each of your numbers is the one that is due, rounded up to a whole number.": [2.0, 4.0, -2.0, 5.0],
    "Each of your numbers is the one that is due, but never less than 2.": [2.0, 3.5, 2.0, 4.0625],
    "Each of your numbers is the square of the one that is due.": [d**2 for d in DUE],
    "Each of your numbers is the size of the one that is due, without its sign.": [abs(d) for d in DUE],
    "Each of your numbers is the sum of those that are due up to there.": [1.25, 4.75, 2.75, 6.8125],
    "Each of your numbers is the one that is due, rounded to 1 decimal or to 2 significant digits.": [1.2, 3.5, -2.0, 4.1],
    "Each of your numbers is the one that is due, cut off behind the decimal point.": [1.0, 3.0, -2.0, 4.0],
    "Each of your numbers is the one that is due, but never more than 1.": [1.0, 1.0, -2.0, 1.0],
    "Each of your numbers is 7, although different ones are due.": [7.0] * 4,
}


@pytest.mark.parametrize("words", MADE)
def test_what_makes_all_wrong_numbers_of_the_right_ones_is_said(words):
    assert relation(MADE[words], DUE) == words


@pytest.mark.parametrize("words", MADE)
def test_one_number_that_does_not_fit_keeps_the_sentence_from_being_said(words):
    found = [*MADE[words][:3], MADE[words][3] + 17.3]
    assert relation(found, DUE) == ""


def test_nothing_is_said_of_right_numbers_of_texts_and_of_a_single_number():
    assert relation(DUE, DUE) == relation(["1.25", *DUE[1:]], DUE) == relation([1.0], [2.0]) == ""


def test_a_zero_that_is_due_and_found_does_not_hide_that_the_others_are_close():
    assert relation([0.0, 1.002, 3.0], [0.0, 1.0, 3.0]) == (
        "Each of your numbers is close to the one that is due, but they differ by up to 0.2% of it."
    )


def test_numbers_that_lost_digits_are_called_close_with_the_largest_difference():
    found = [d * (1 + share) for d, share in zip(DUE, (0.001, -0.003, 0.0, 0.002), strict=True)]
    assert relation(found, DUE) == (
        "Each of your numbers is close to the one that is due, but they differ by up to 0.3% of it."
    )


def test_of_numbers_that_agree_only_roughly_no_more_digits_are_said_than_they_share():
    due = [1.0, 2.0, 4.0]
    words = "Each of your numbers is {} the one that is due."
    assert relation([0.735, 1.456, 2.912], due, tolerance=0.03) == words.format("0.728 to 0.735 times")
    assert relation([1.801, 3.6, 7.204], due, tolerance=0.03) == words.format("about 1.8 times")
    assert relation([2.0, 4.0, 8.0], due, tolerance=0.03) == words.format("2 times")
    assert relation([0.512, 0.514, 0.508], due, tolerance=0.03) == (
        "Each of your numbers is about 0.51, although different ones are due."
    )


def test_numbers_rounded_to_digits_are_told_from_numbers_rounded_to_decimals():
    words = "Each of your numbers is the one that is due, rounded to 2 significant digits."
    assert relation([120.0, 0.057], [123.4, 0.0567]) == words


def test_sums_that_start_again_with_each_row_are_recognised_row_by_row():
    due = [[1.0, 2.0, 4.0], [3.0, 5.0]]
    words = "Each of your losses is the sum of those that are due up to there."
    assert rows_relation([[1.0, 3.0, 7.0], [3.0, 8.0]], due, "Each of your losses") == words
    assert rows_relation([[1.0, 3.0, 7.0], [9.0, 2.0]], due, "Each of your losses") == ""


def test_numbers_that_stay_as_the_first_or_the_last_one_due_are_recognised_in_all_rows():
    due = [[1.0, 2.0, 4.0], [3.0, 5.0]]
    assert rows_relation([[1.0] * 3, [3.0] * 2], due, "Each rate") == "Each rate is the one that is due first in its epoch."
    assert rows_relation([[4.0] * 3, [5.0] * 2], due, "Each rate") == "Each rate is the one that is due last in its epoch."
    assert rows_relation([[1.0] * 3, [5.0] * 2], due, "Each rate") == ""


def test_rows_of_the_right_numbers_in_another_order_are_recognised():
    due = [[0.3, 0.1, 0.7], [0.2, 0.9]]
    words = rows_relation([sorted(row) for row in due], due, "Each of your rates")
    assert words == "Each of your rates is one that is due, but they are in another order."
    assert rows_relation([[0.1, 0.3, 0.3], [0.2, 0.9]], due, "Each of your rates") == ""


CALLS = [((0.3, 4), {}), ((0.2, 9), {}), ((0.7, 16), {})]


def rate_per_step(rate: float, steps: int) -> float:
    return rate / (steps + 1)


OTHER_ARGUMENTS = {
    "for a second argument that is 1 smaller": lambda rate, n: rate_per_step(rate, n - 1),
    "for a second argument that is 1 larger": lambda rate, n: rate_per_step(rate, n + 1),
    "for a second argument that is never more than 8": lambda rate, n: rate_per_step(rate, min(n, 8)),
    "for 10 as the second argument, whatever it is": lambda rate, n: rate_per_step(rate, 10),
    "for the first and the second argument in each other's place": lambda rate, n: rate_per_step(n, rate),
    "for the first argument in place of the second, too": lambda rate, n: rate_per_step(rate, rate),
    "for the second argument in place of the first, too": lambda rate, n: rate_per_step(n, n),
}


@pytest.mark.parametrize("words", OTHER_ARGUMENTS)
def test_a_formula_that_is_right_for_other_arguments_is_recognised(words):
    found = [OTHER_ARGUMENTS[words](*arguments) for arguments, _ in CALLS]
    assert call_relation(CALLS, found, rate_per_step) == f"Each of your numbers is the one that is due {words}."


def test_whole_numbers_are_not_taken_for_a_fraction():
    assert call_relation(CALLS, [rate_per_step(rate, 0.5) for (rate, _), _ in CALLS], rate_per_step) == ""


def test_numbers_too_large_for_a_float_are_compared_with_nothing():
    calls = [((20, 2), {}), ((30, 3), {}), ((7, 5), {})]
    assert call_relation(calls, [1.0, 5.0, 2.0], lambda b, n: b**n * 10**400) == ""
    assert relation([math.inf, 1.0], [1.0, 2.0]) == ""


def test_the_argument_whose_values_decide_whether_numbers_are_right_is_named():
    calls = [((8 + k, kind), {}) for k, kind in enumerate(("a", "b", "a", "c"))]
    words = "Of the calls made here, those whose second argument is a are right, and those with b or c are wrong."
    assert call_relation(calls, [8.0, 11.0, 10.0, 30.0], lambda n, kind: float(n)) == words


def test_an_argument_given_by_name_or_left_out_decides_as_much_as_the_others():
    def batch(b: int, n: int, ranks: int = 1) -> float:
        return float(b * n * ranks)

    def said(*calls: tuple[tuple[int, int], dict[str, int]]) -> str:
        return call_relation(calls, [float(b * n) for (b, n), _ in calls], batch)

    by_name = ((1, 4), {}), ((1, 4), {"ranks": 2}), ((23, 4), {"ranks": 8}), ((23, 4), {"ranks": 1})
    words = "Of the calls made here, those whose third argument is 1 are right, and those with 2 or 8 are wrong."
    assert said(*by_name) == words
    assert said(((1, 4), {}), ((23, 4), {"ranks": 1}), ((64, 4), {"ranks": 2}), ((99, 4), {"ranks": 8})) == ""  # the first, too


def test_arguments_that_are_tensors_are_never_listed():
    calls = [(([torch.tensor(k)],), {}) for k in range(4)]
    assert call_relation(calls, [1.0, 2.0, 3.0, 9.0], lambda tensors: float(tensors[0]) + 1) == ""


def test_a_row_of_two_numbers_is_one_number_behind_as_longer_ones_are():
    rows, found = [[3.0, 2.0, 0.0], [5.0, 0.0]], [[0.0, 3.0, 2.0], [0.0, 5.0]]
    words = "Each number is the one that was due before it in its run, except for the first."
    assert rows_relation(found, rows, "Each number", called="run") == words


def test_roundings_that_are_the_same_are_both_said():
    assert relation([0.046, 0.031], [0.04567, 0.03123]) == (
        "Each of your numbers is the one that is due, rounded to 2 significant digits or to 3 decimals."
    )
