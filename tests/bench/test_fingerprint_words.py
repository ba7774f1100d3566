"""Fingerprints in words."""

from __future__ import annotations

import pytest

from gradaccum.fingerprint import expected, fingerprint
from gradaccum.fingerprint_words import listing, say
from gradaccum.loops import GALLERY
from gradaccum.problems import Problem

PROBLEM = Problem(seed=5, accumulation_steps=3, epochs=((2, 2), (2, 2, 2, 2, 1)), width=8, stale=True, gated=True)

SAID = {
    "right": "3 updates; every micro-batch is in exactly one of them",
    "no-scale": "coefficients of an update add up to 2, 3 and 2 instead of 1",
    "double-scale": "add up to 1/2, 1/3 and 1/2 instead of 1",
    "lr-scaled-too": "the learning rate they use is 1/2, 1/3 and 1/2 of the one given",
    "mean-of-means": "in update 3, micro-batch 7 weighs 1/2 where 1/3 is due",
    "tail-dropped": "1 update where 3 are due; micro-batches 1, 2, 6 and 7 are in none",
    "tail-stale": "it holds 5 micro-batches instead of 2, 3 and 2",
    "zero-every": "micro-batches 1, 3, 4 and 6 are in none",
    "never-zero": "5 of 7 micro-batches are in more than one of them",
    "zero-before-step": "none of them holds any gradient",
    "stale-start": "before the loop began is in update 1 too; the coefficients of an update add up to 2, 1 and 1",
    "step-every": "7 updates where 3 are due; each holds one micro-batch instead of 2, 3 and 2",
    "off-by-one-late": "the updates hold 2, 4 and 1 micro-batches instead of 2, 3 and 2",
    "eval-mode": "is no combination of the micro-batches' gradients",
}


@pytest.mark.parametrize("slug", SAID)
def test_the_words_say_what_the_loop_computes(slug):
    assert SAID[slug] in say(fingerprint(GALLERY[slug], PROBLEM), expected(PROBLEM))


def test_every_wrong_loop_is_described_differently_from_the_right_one():
    right = say(fingerprint(GALLERY["right"], PROBLEM), expected(PROBLEM))
    assert all(say(fingerprint(loop, PROBLEM), expected(PROBLEM)) != right for slug, loop in GALLERY.items() if slug != "right")


def test_a_loop_without_updates_is_described_as_making_none():
    def idle(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        pass

    assert say(fingerprint(idle, PROBLEM), expected(PROBLEM)).startswith("makes no updates where 3 are due")


def test_no_more_differences_are_named_than_asked_for():
    found, due = fingerprint(GALLERY["never-zero"], PROBLEM), expected(PROBLEM)
    assert say(found, due, most=1).count(";") == 1


@pytest.mark.parametrize(
    ("words", "text"), [([1], "1"), ([1, 2], "1 and 2"), ([1, 2, 3], "1, 2 and 3"), (range(9), "0, 1, 2, 3, 4, 5, …")]
)
def test_lists_read_as_english(words, text):
    assert listing(words) == text
