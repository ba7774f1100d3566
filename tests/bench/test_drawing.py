"""The drawing of fingerprints and of files."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from PIL import Image

from gradaccum.drawing import ON_PALE, as_png, as_svg, draw_fingerprint, draw_strip, erase, new_figure
from gradaccum.fingerprint import expected, fingerprint
from gradaccum.loops import GALLERY
from gradaccum.problems import Problem
from gradaccum.theme import BLUE, GREY, VERMILLION

PROBLEM = Problem(seed=5, accumulation_steps=3, epochs=((2, 2), (2, 2, 2, 2, 1)), width=8, stale=True, gated=True)


def drawn(slug: str, **options):
    axes = new_figure(5, 4).add_axes((0.1, 0, 0.9, 0.9))
    draw_fingerprint(axes, fingerprint(GALLERY[slug], PROBLEM), "found", expected(PROBLEM), **options)
    return axes


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def framed(axes) -> list[tuple[int, int]]:
    """Update and micro-batch, from 1, of every cell with a frame."""
    found = []
    for collection in axes.collections:
        for path, edge in zip(collection.get_paths(), collection.get_edgecolors(), strict=True):
            if to_hex(edge).lower() == VERMILLION.lower():
                x, y = path.vertices[:4].mean(axis=0)
                found.append((round(y) + 1, round(x) + 1))
    return sorted(found)


def test_a_right_loop_has_its_fractions_and_no_frames():
    axes = drawn("right")
    assert framed(axes) == []
    fractions = sorted(text for text in texts(axes) if "/" in text)
    assert fractions == ["1/2", "1/2", "1/3", "1/3", "1/3", "1/3", "2/3"]


def test_cells_that_differ_are_framed():
    assert framed(drawn("zero-every")) == [(1, 1), (2, 3), (2, 4), (3, 6)]


def test_cells_of_missing_updates_are_framed_with_dashes():
    axes = drawn("short-epoch-no-step")
    styles = [style for collection in axes.collections for style in collection.get_linestyle()]
    assert any(dashes is not None for _, dashes in styles)
    assert framed(axes) == [(1, 1), (1, 2)]


def test_updates_are_compared_with_those_of_their_own_epoch():
    axes = drawn("tail-dropped")
    assert framed(axes) == [(1, 1), (1, 2), (3, 6), (3, 7)]
    rows = {text.get_text(): text.get_position()[1] for text in axes.texts if text.get_ha() == "right"}
    assert rows["1"] == 1, "the only update is the first of the second epoch, in the second row"


def test_gradients_left_from_before_the_run_have_their_own_column():
    assert "before" in texts(drawn("stale-start"))
    assert "before" not in texts(drawn("right"))


def test_a_changed_rate_is_noted_next_to_its_row():
    assert [text for text in texts(drawn("lr-scaled-too")) if "rate" in text] == ["rate × 1/2", "rate × 1/3", "rate × 1/2"]


def test_the_residual_of_an_update_is_noted_next_to_its_row():
    assert sum("rest" in text for text in texts(drawn("eval-mode"))) == 3


def test_the_picture_of_a_loop_without_updates_says_so():
    def idle(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        pass

    axes = new_figure(5, 4).add_axes((0.1, 0, 0.9, 0.9))
    draw_fingerprint(axes, fingerprint(idle, PROBLEM), "found")
    assert "no update at all" in texts(axes)


def test_room_for_more_updates_keeps_the_size_of_the_cells():
    assert drawn("right", rows=7).get_ylim() == drawn("step-every", rows=7).get_ylim()


def test_in_a_picture_with_room_for_more_columns_their_label_stays_above_the_last_column():
    axes = drawn("right", room=20)
    assert axes.get_xlim()[1] == pytest.approx(19.6)
    [label] = [text for text in axes.get_children() if getattr(text, "get_text", str)().startswith("micro-batch")]
    right = label.get_window_extent().x1
    assert axes.transData.inverted().transform((right, 0))[0] == pytest.approx(len(PROBLEM.epochs[0] + PROBLEM.epochs[1]) - 0.4)


def test_a_strip_shows_one_row():
    axes = new_figure(4, 1).add_axes((0, 0, 1, 0.5))
    draw_strip(axes, [0.25, 0, 1], "now")
    assert texts(axes) == ["1/4", "1", "1", "2", "3"]
    assert sum(isinstance(collection, PolyCollection) for collection in axes.collections) == 1


@pytest.fixture
def file() -> Image.Image:
    figure = new_figure(5, 4)
    draw_fingerprint(figure.add_axes((0.1, 0, 0.9, 0.9)), fingerprint(GALLERY["zero-every"], PROBLEM), "found")
    return Image.open(io.BytesIO(as_png(figure)))


def test_a_file_has_two_pixels_for_each_of_its_figures(file):
    assert file.size == (1000, 800)


def test_a_file_is_as_white_as_the_page_around_it(file):
    assert file.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


def test_an_erased_figure_is_empty():
    figure = new_figure(2, 1)
    figure.subplots(1, 2)
    erase(figure)
    assert figure.axes == []


@pytest.fixture
def page_element():
    """A drawing with a line, a grey and a coloured text, and a text on a pale area."""
    figure = new_figure(4, 2)
    axes = figure.add_subplot()
    axes.plot([0, 1], color="black")
    for y, color in enumerate((GREY, BLUE, ON_PALE)):
        axes.text(0, y, "word", color=color)
    return ElementTree.fromstring(as_svg(figure, 'rises to "1" & stays'))[0]


def styles_of(page_element, tag: str) -> list[str]:
    return [one.get("style", "") for one in page_element.iter(f"{{http://www.w3.org/2000/svg}}{tag}")]


def test_a_drawing_for_a_page_has_its_size_in_pixels_and_an_alternative_text(page_element):
    assert (page_element.get("width"), page_element.get("height")) == ("400", "200")
    assert (page_element.get("role"), page_element.get("aria-label")) == ("img", 'rises to "1" & stays')


def test_a_drawing_fits_into_narrow_pages_until_its_texts_would_become_too_small(page_element):
    assert page_element.get("style") == "max-width:100%;min-width:304px;height:auto;display:block"


def test_coloured_words_are_darker_than_lines_and_others_keep_their_colour(page_element):
    assert any(f"fill: color-mix(in srgb, {BLUE.lower()} 70%, black)" in style for style in styles_of(page_element, "text"))
    assert any(f"fill: {ON_PALE}" in style for style in styles_of(page_element, "text"))


def test_two_drawings_on_one_page_share_no_name_that_means_something_else(page_element):
    figure = new_figure(4, 2)
    figure.add_subplot().plot([2, 1])
    other = ElementTree.fromstring(as_svg(figure, "falls"))
    names, others = ({one.get("id") for one in drawing.iter()} - {None} for drawing in (page_element, other))
    assert not names & others
