"""The gallery: loops that differ from the right one in the one thing their name says."""

from __future__ import annotations

import ast

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gradaccum.fingerprint import expected, fingerprint
from gradaccum.loops import GALLERY, samples_in, source, windows
from gradaccum.problems import Problem

ONE_WINDOW_AFTER_ANOTHER = Problem(epochs=((2, 2, 2, 2, 2, 2, 2, 2),), width=8)

PLAIN = {
    "mean-of-means": {},
    "tail-scale": {},
    "tail-dropped": {},
    "tail-stale": {},
    "short-epoch-no-step": {},
    "stale-start": {},
    "eval-mode": {},
}
"""Mistakes that cannot be seen where micro-batches are even, windows full, .grad is clean and layers have no modes."""


@given(st.integers(0, 20), st.integers(1, 6))
def test_windows_cut_a_stream_without_losing_or_reordering_anything(count, steps):
    cut = list(windows(iter(range(count)), steps))
    assert [k for window in cut for k in window] == list(range(count))
    assert all(len(window) == steps for window in cut[:-1])
    assert all(1 <= len(window) <= steps for window in cut)


def test_a_window_takes_no_micro_batch_of_the_next_one_from_the_stream():
    stream = iter(range(10))
    next(windows(stream, 3))
    assert next(stream) == 3


def test_samples_of_a_window_are_counted():
    assert samples_in([(torch.zeros(3, 1), None), (torch.zeros(2, 1), None)]) == 5


@pytest.mark.parametrize("slug", GALLERY)
def test_a_gallery_loop_is_a_short_plain_function(slug):
    function = ast.parse(source(slug)).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert [argument.arg for argument in function.args.args] == [
        *("model", "loss_fn", "optimizer", "micro_batches", "accumulation_steps"),
    ]
    assert len(source(slug).splitlines()) <= 16


@pytest.mark.parametrize("slug", GALLERY)
def test_a_gallery_loop_is_named_after_its_mistake(slug):
    assert GALLERY[slug].__name__ == slug.replace("-", "_")


def test_asking_for_the_source_of_an_unknown_loop_lists_the_known_names():
    with pytest.raises(KeyError, match="no-scale"):
        source("no-such-loop")


@pytest.mark.parametrize("slug", PLAIN)
def test_some_mistakes_do_not_show_on_even_micro_batches(slug):
    assert fingerprint(GALLERY[slug], ONE_WINDOW_AFTER_ANOTHER).same_as(expected(ONE_WINDOW_AFTER_ANOTHER))


@pytest.mark.parametrize("slug", sorted(GALLERY.keys() - PLAIN.keys() - {"right"}))
def test_all_other_mistakes_show_on_even_micro_batches_too(slug):
    assert not fingerprint(GALLERY[slug], ONE_WINDOW_AFTER_ANOTHER).same_as(expected(ONE_WINDOW_AFTER_ANOTHER))


@pytest.mark.parametrize("slug", GALLERY)
def test_a_gallery_loop_takes_a_stream(slug):
    streamed = ONE_WINDOW_AFTER_ANOTHER.with_(one_shot=True)
    assert fingerprint(GALLERY[slug], streamed).same_as(fingerprint(GALLERY[slug], ONE_WINDOW_AFTER_ANOTHER))
