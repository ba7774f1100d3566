"""The harbour log: its lines, its entropy, its micro-batches."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
import torch

from gradaccum.capstone.text import END, IGNORE, LETTERS, SHIPS, decode, encode, floor, log_lines, tokens_in


def test_the_log_is_the_same_whenever_it_is_asked_for_and_another_number_gives_another():
    assert log_lines(0, 50) == log_lines(0, 80)[:50]
    assert log_lines(0, 50) != log_lines(1, 50)


def test_the_log_does_not_depend_on_the_global_random_state():
    log_lines.cache_clear()
    random.seed(1)
    first = log_lines(7, 20)
    log_lines.cache_clear()
    random.seed(2)
    assert log_lines(7, 20) == first


def test_the_first_line_of_the_log_is_what_it_was_when_the_course_was_written():
    assert log_lines(0, 1)[0].text == "00:45 the barque Freja from Gdansk with 8 barrels of tar"


def test_every_letter_of_the_log_has_a_token_and_every_token_occurs():
    letters = set("".join(line.text for line in log_lines(3, 5000)))
    assert letters == set(LETTERS) - {END}
    assert len(set(LETTERS)) == len(LETTERS)


def test_a_ship_always_comes_from_the_same_port():
    for line in log_lines(4, 500):
        for ship, (what, port) in SHIPS.items():
            if f" {ship} " in line.text:
                assert port in line.text
                assert what in line.text or "leaves" in line.text


def test_the_surprise_of_a_line_is_minus_the_logarithm_of_how_often_it_comes():
    lines = log_lines(5, 40_000)
    counts, nats = Counter(line.text for line in lines), {line.text: line.nats for line in lines}
    for text, count in counts.most_common(20):
        assert count / len(lines) == pytest.approx(math.exp(-nats[text]), rel=0.15)


def test_the_same_line_always_has_the_same_surprise():
    seen: dict[str, float] = {}
    for line in log_lines(6, 5000):
        assert seen.setdefault(line.text, line.nats) == pytest.approx(line.nats)


def test_the_floor_counts_the_end_of_a_line_as_a_token():
    lines = log_lines(0, 10)
    assert floor(lines) * sum(len(line.text) + 1 for line in lines) == pytest.approx(sum(line.nats for line in lines))


def test_a_micro_batch_is_padded_to_its_longest_line_and_padding_is_no_target():
    x, y = encode(["fog", "ebb tide"])
    assert x.shape == y.shape == (2, 9)
    assert decode(x[0].tolist()) == "\nfog\n\n\n\n\n"
    assert decode(y[0, :4].tolist()) == "fog\n"
    assert y[0, 4:].tolist() == [IGNORE] * 5
    assert tokens_in(y) == 4 + 9


def test_y_is_x_one_place_later():
    x, y = encode(["all quiet"])
    assert torch.equal(x[0, 1:], y[0, :-1])
