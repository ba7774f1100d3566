"""What updates hold is described in words that all of them bear out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from autograder.diagnosing.update_words import DIVISORS, MISCOUNTED, Window, updates_in_words
from gradaccum.fingerprint import Fingerprint, expected
from gradaccum.problems import Problem

PROBLEM = Problem(0, 3, ((2,) * 8, (2,) * 4))
DUE = expected(PROBLEM)
"""Windows of 3, 3, 2, 3 and 1 micro-batches."""


def rows(*windows: dict[int, float]) -> Fingerprint:
    """A fingerprint with these coefficients, by the number of the micro-batch; nine and more are of the second epoch."""
    coefficients = torch.zeros(len(windows), len(DUE.columns), dtype=torch.float64)
    for row, window in zip(coefficients, windows, strict=True):
        for k, value in window.items():
            row[k - 1] = value
    epochs = tuple(int(max(window, default=1) > 8) for window in windows)
    count = len(windows)
    return Fingerprint(coefficients, torch.zeros(count), torch.ones(count), epochs, DUE.columns)


def even(*windows: range, divisor: Callable[[int], float] = float) -> Fingerprint:
    return rows(*({k: 1 / divisor(len(window)) for k in window} for window in windows))


def times(factors: list[float]) -> Fingerprint:
    return replace(DUE, coefficients=DUE.coefficients * torch.tensor(factors, dtype=torch.float64)[:, None])


FULL = (range(1, 4), range(4, 7), range(7, 9), range(9, 12), range(12, 13))
SAID = {
    "Your updates hold 3, 3, 1, 1, 3 and 1 micro-batches; due are 3, 3, 2, 3 and 1.": even(
        *FULL[:2], range(7, 8), range(8, 9), *FULL[3:]
    ),
    "Window 5, which has 1 of 3 micro-batches, is in no update.": even(*FULL[:4]),
    "Windows 2 and 3 are in no update.": even(FULL[0], *FULL[3:]),
    "The first micro-batch of each epoch is in no update. "
    "Your updates hold 3, 3, 1 and 3 micro-batches; due are 3, 3, 2, 3 and 1.": even(
        range(2, 5), range(5, 8), range(8, 9), range(10, 13)
    ),
    "Each window makes 2 updates, where one is due.": even(*(w for w in FULL for _ in range(2))),
    "More than one update is made from the same window, where one is due: windows 3 and 5.": even(
        *FULL[:3], FULL[2], *FULL[3:], FULL[4]
    ),
    "All gradients that are due are there, but your loop makes 1 more update, whose gradient is zero or None. "
    "Unlike None, zeros let momentum move the parameters.": even(*FULL, range(0)),
    "Micro-batch 1 is in 2 updates, where it is due in one.": even(range(1, 4), range(1, 7), *FULL[2:]),
    "Every full window counts as if divided by the number of micro-batches in the last window of its epoch, "
    "where the number of its micro-batches is due.": times([3 / 2, 3 / 2, 1, 3, 1]),
    "Every leftover window of several micro-batches counts as if not divided at all, "
    "where the number of its micro-batches is due.": times([1, 1, 2, 1, 1]),
    "Every leftover window counts as if divided by one more than the number of its micro-batches, "
    "where the number of its micro-batches is due.": times([1, 1, 2 / 3, 1, 1 / 2]),
    "Every window counts as if divided by the number of its samples, where the number of its micro-batches is due.": times(
        [1 / 2] * 5
    ),
    "Every window is 7 times what is due.": times([7.0] * 5),
}


@pytest.mark.parametrize("words", SAID)
def test_what_all_updates_show_is_said(words):
    assert updates_in_words(SAID[words], DUE) == words


@pytest.mark.parametrize("words", [words for words in SAID if words.startswith("Every")])
def test_one_window_with_another_factor_keeps_the_sentence_from_being_said(words):
    found = SAID[words]
    other = replace(found, coefficients=found.coefficients * torch.tensor([1.37, 1, 1, 1, 1], dtype=torch.float64)[:, None])
    assert updates_in_words(other, DUE) != words


def test_a_micro_batch_of_which_next_to_nothing_is_in_an_update_is_not_said_to_be_in_none():
    others = [{k: 1 / len(window) for k in window} for window in FULL[1:]]
    assert "Micro-batch 1 is in no update." in updates_in_words(rows({2: 0.01, 3: 0.1}, *others), DUE)
    assert updates_in_words(rows({1: 1e-5, 2: 0.01, 3: 0.1}, *others), DUE) == ""


SAME_SIZES = Problem(0, 3, ((7,) * 8, (7,) * 4))
WINDOWS = [
    Window((7,) * count, 3, last, epoch) for count, last, epoch in ((3, 2, 8), (3, 2, 8), (2, 2, 8), (3, 1, 4), (1, 1, 4))
]


@pytest.mark.parametrize(("words", "divisor"), DIVISORS)
def test_every_wrong_divisor_is_described(words, divisor):
    due = expected(SAME_SIZES)
    factors = [len(window.sizes) / (divisor(window) or 1) for window in WINDOWS]
    found = replace(due, coefficients=due.coefficients * torch.tensor(factors, dtype=torch.float64)[:, None])
    constant = len({divisor(window) for window in WINDOWS}) == 1 and MISCOUNTED.search(words)
    by = f"divided by {divisor(WINDOWS[0])}" if constant else f"divided by {words}" if words else "not divided at all"
    assert updates_in_words(found, due).endswith(f" counts as if {by}, where the number of its micro-batches is due.")


@pytest.mark.parametrize(("step", "words"), [(1, "more"), (-1, "less")])
def test_windows_divided_by_one_sample_too_many_or_too_few_are_described(step, words):
    totals = [6, 6, 4, 6, 2]
    assert updates_in_words(times([total / (total + step) for total in totals]), DUE) == (
        f"Every window counts as if divided by 1 {words} than what it holds."
    )


def test_ragged_windows_divided_by_what_the_first_one_holds_are_described():
    due = expected(Problem(0, 2, ((1, 2, 4, 3, 1, 2, 5, 6),)))

    def words_of(*factors: float) -> str:
        found = replace(due, coefficients=due.coefficients * torch.tensor(factors, dtype=torch.float64)[:, None])
        return updates_in_words(found, due)

    assert words_of(1, 7 / 3, 1, 1) == "Window 2 counts as if divided by what an earlier window holds."
    assert words_of(1, 7 / 3, 1, 11 / 3) == "Each of windows 2 and 4 counts as if divided by what an earlier window holds."
    due = expected(Problem(0, 2, ((1, 2, 4, 3, 4, 2, 5, 6),)))
    assert words_of(1, 7 / 3, 1, 11 / 3) == "Each of windows 2 and 4 counts as if divided by what window 1 holds."
    assert words_of(1, 7 / 3, 6 / 7, 11 / 6) == "Each of windows 2 to 4 counts as if divided by what the window before holds."


def test_ragged_windows_divided_by_the_samples_of_their_epoch_are_described():
    due = expected(Problem(0, 2, ((1, 2, 4, 3), (2, 3))))
    factors = torch.tensor([[3 / 10], [7 / 10], [1]], dtype=torch.float64)
    found = replace(due, coefficients=due.coefficients * factors)
    words = "Each of windows 1 and 2 counts as if divided by all samples of its epoch, where those of the window are due."
    assert updates_in_words(found, due) == words


def test_gradients_of_one_length_that_were_longer_are_called_clipped():
    factors, lengths = [0.5, 0.25, 1.0, 0.125, 1.0], torch.tensor([2.0, 2.0, 1.5, 2.0, 0.3])
    words = "No gradient is longer than 2 at its update: longer ones are shortened to this length, which was not asked for."
    assert updates_in_words(times(factors), DUE, lengths) == words
    assert updates_in_words(times(factors), DUE, torch.tensor([2.0, 1.9, 1.5, 2.0, 0.3])) == ""
    assert updates_in_words(times(factors), DUE, torch.tensor([2.0, 2.0, 2.5, 2.0, 0.3])) == ""


def test_a_window_weighted_by_its_first_micro_batch_is_described():
    problem = Problem(0, 3, ((1, 2, 4, 3, 1, 2),))
    due = expected(problem)
    found = replace(due, coefficients=due.coefficients * torch.tensor([[7 / 3], [6 / 9]], dtype=torch.float64))
    words = (
        "Every window counts as if divided by the number of samples it would have if all its micro-batches were as large as "
        "the first."
    )
    assert updates_in_words(found, due) == words


def test_nothing_is_said_of_the_updates_of_a_right_loop():
    assert updates_in_words(DUE, DUE) == ""
