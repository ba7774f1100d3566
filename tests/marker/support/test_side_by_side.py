"""Two numbers in one sentence."""

import math

import pytest

from autograder.support.side_by_side import side_by_side


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((3.1774, 3.18), ("3.177", "3.180")),
        ((4.0, 3.5), ("4.0", "3.5")),
        ((4.0, 3.0), ("4", "3")),
        ((0.03096, 0.0414), ("0.03096", "0.04140")),
        ((1.00000001, 1.0), ("1.00000001", "1.00000000")),
        ((1e-9, 2.0), ("1e-09", "2")),
        ((math.nan, 2.0), ("nan", "2")),
        ((0.5, 0.5), ("0.5", "0.5")),
    ],
)
def test_two_numbers_have_as_many_decimals_as_tell_them_apart(numbers, words):
    assert side_by_side(*numbers) == words
