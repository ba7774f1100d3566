"""The poster: its loops are right, and all that is printed on it can be read."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

POSTER = Path(__file__).parents[2] / "poster" / "make.py"


@pytest.fixture(scope="module")
def make():
    spec = importlib.util.spec_from_file_location("poster_make", POSTER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def figure(make):
    """The poster, drawn once; a loop that is not due raises an error."""
    figure = make.poster()
    FigureCanvasAgg(figure).draw()
    return figure


@pytest.mark.slow
def test_no_text_of_the_poster_leaves_the_page_or_covers_another(figure):
    boxes = [(text.get_window_extent(), text.get_text()) for text in figure.texts]
    page = figure.bbox
    assert [said for box, said in boxes if box.x0 < 0 or box.y0 < 0 or box.x1 > page.x1 or box.y1 > page.y1] == []
    pairs = [(a, b) for k, (one, a) in enumerate(boxes) for other, b in boxes[:k] if one.shrunk(0.98, 0.98).overlaps(other)]
    assert pairs == []


@pytest.mark.slow
def test_no_code_of_the_poster_covers_a_matrix(figure):
    boxes = [(text.get_window_extent(), text.get_text()) for text in figure.texts]
    assert [
        said for axes in figure.axes for box, said in boxes if box.shrunk(0.98, 0.98).overlaps(axes.get_window_extent())
    ] == []


@pytest.mark.slow
def test_a_poster_loop_that_is_wrong_is_refused(make, monkeypatch):
    def step_every(model, loss_fn, optimizer, loader, n):
        for x, y in loader:
            loss_fn(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()

    monkeypatch.setattr(make.loops, "plain", step_every)
    with pytest.raises(AssertionError, match="step-every"):
        make.poster()
