"""Comparing plain values, and quoting them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from autograder.judging.calls import in_different_words, in_words, same_value
from autograder.judging.tolerances import rounding
from autograder.observing.calls import CallTrial, observe_call, observe_number

NUMBERS = (3, 3.0, Fraction(3), Decimal(3), np.float32(3), torch.tensor(3.0), torch.tensor([3.0]), np.array([[3]]))


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_a_number_may_be_any_python_number_a_numpy_one_or_a_tensor_with_one_element(value):
    seen = observe_number(lambda: value, CallTrial())
    assert same_value(seen.facts["value"], 3)


@pytest.mark.parametrize("value", [[3], "3", torch.tensor([3.0, 3.0])], ids=repr)
def test_a_list_a_text_and_a_longer_tensor_are_no_number(value):
    seen = observe_number(lambda: value, CallTrial())
    assert not same_value(seen.facts["value"], 3)


def test_a_complex_number_is_observed_by_its_type():
    assert observe_call(lambda: 3j, CallTrial()).facts == {"type": "complex"}


def test_a_text_is_quoted_as_one():
    assert in_words("True") == "the text 'True'"


def test_true_is_not_the_number_1_but_1_may_stand_for_true():
    assert not same_value(True, 1)
    assert same_value(1, True)


@pytest.mark.parametrize("due", [0.0123456789, 0.6543219, 17.8336884, 123456.7])
def test_a_number_rounded_to_digits_or_to_decimals_is_within_its_rounding(due):
    assert abs(float(f"{due:.6g}") - due) <= rounding(due, 6)
    assert abs(round(due, 6) - due) <= rounding(due, 6)
    assert abs(float(f"{due:.4g}") - due) > rounding(due, 6)


def test_two_numbers_that_differ_are_quoted_with_as_many_digits_as_show_it():
    assert in_different_words(0.5, 0.25) == ("0.5", "0.25")
    assert in_different_words(0.6000001, 0.6) == ("0.6000001", "0.6")
