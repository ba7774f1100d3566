"""Fingerprints of a notebook's own loops, as pictures with words."""

from __future__ import annotations

import base64
import re

import pytest
from matplotlib.text import Text

from gradaccum.fingerprint import fingerprint
from gradaccum.loops import GALLERY
from gradaccum.notebook.showing import Picture, show_fingerprint, show_fingerprints
from gradaccum.problems import Problem

PROBLEM = Problem(seed=4, accumulation_steps=4, epochs=((2,) * 10,), width=8)


def html_of(picture: Picture) -> str:
    return picture._repr_mimebundle_()["text/html"]


def test_the_expected_fingerprint_is_left_of_the_loop_s_own():
    titles = [axes.get_title(loc="left") for axes in show_fingerprint(GALLERY["no-scale"], PROBLEM).figure.axes]
    assert titles == ["a right loop", "no_scale"]


def test_the_words_say_row_by_row_what_the_picture_shows():
    lines = show_fingerprint(GALLERY["retained-graph"], PROBLEM).alt.split("\n")
    assert lines[0].startswith("a right loop: update 1 holds 1/4 of micro-batches 1 to 4; update 2 ")
    assert lines[1].endswith("update 3 holds 1 of micro-batch 9, 1/2 of micro-batch 10.")


def test_the_caption_says_what_the_loop_does_instead():
    assert show_fingerprint(GALLERY["tail-dropped"], PROBLEM).caption.startswith("tail_dropped makes 2 updates where 3 are due")


def test_a_loop_without_updates_is_shown_as_such():
    def idle(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        pass

    assert "idle: no update at all." in show_fingerprint(idle, PROBLEM).alt


def test_an_error_raised_by_a_loop_is_raised():
    def broken(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        show_fingerprint(broken, PROBLEM)


def test_a_notebook_gets_a_picture_with_words_and_everything_else_the_words():
    picture = show_fingerprint(GALLERY["never-zero"], PROBLEM)
    data = re.search(r'src="data:image/png;base64,([^"]+)"', html_of(picture))[1]
    assert base64.b64decode(data).startswith(b"\x89PNG")
    assert f'alt="{picture.alt}"' in html_of(picture)
    assert picture.caption in html_of(picture)
    assert picture._repr_mimebundle_()["text/plain"] == str(picture) == repr(picture) == f"{picture.caption}\n{picture.alt}"


def test_empty_places_of_the_grid_show_nothing():
    four = {slug: fingerprint(GALLERY[slug], PROBLEM) for slug in ("right", "no-scale", "zero-every", "never-zero")}
    assert len(show_fingerprints(four, columns=3).figure.axes) == 4


@pytest.mark.parametrize("name", ["accumulate_gradient", "train_epoch_tokens", "loop"])
@pytest.mark.parametrize("epochs", [((2,) * 4,), ((2,) * 4, (2,) * 2)])
def test_the_two_texts_above_a_fingerprint_stand_beside_each_other(name, epochs):
    problem = Problem(seed=4, accumulation_steps=4, epochs=epochs, width=8)

    def loop(*arguments):
        return GALLERY["right"](*arguments)

    loop.__name__ = name
    figure = show_fingerprint(loop, problem).figure
    for axes in figure.axes:
        title, meaning = (
            next(text for text in axes.get_children() if isinstance(text, Text) and text.get_text() == axes.get_title(loc=loc))
            for loc in ("left", "right")
        )
        assert title.get_window_extent().x1 < meaning.get_window_extent().x0
        assert meaning.get_window_extent().x1 <= figure.bbox.x1
