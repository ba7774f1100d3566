"""The panel that trains: what it shows while a run lasts, at its end, and when there is none."""

from __future__ import annotations

import pytest

from gradaccum.capstone import live, variants
from gradaccum.capstone.budget import activation_bytes
from gradaccum.capstone.config import SMALL, Config
from gradaccum.drawing import new_figure
from gradaccum.threads import one_thread

TINY = Config(lines=30, epochs=1)


def within(config: Config) -> Config:
    return config.with_(budget=activation_bytes(config.build_model(), *config.longest_micro_batch(config.micro_batch_size)))


@pytest.fixture
def panel():
    return live.live_run(variants.train, lambda config: 3)


def test_the_panel_says_what_to_do_before_a_run(panel):
    assert "Press Train" in panel._words.value
    assert "Press Train" in panel._picture.value
    assert "allowed" in panel._picture.value
    assert panel._repr_mimebundle_()["text/plain"]


def test_a_finished_run_is_described_by_its_own_numbers(panel):
    panel.start(within(TINY))
    progress = panel.progress
    assert panel.error is None
    assert progress.history.updates == TINY.updates
    assert progress.within
    said = live.describe(progress)
    assert f"loss {progress.history.losses[-1]:.3f} per token" in said
    assert f"the loss is {progress.new_loss:.3f}" in said
    assert "within their budget" in said
    assert said.split(".")[0] in panel._picture.value
    assert all(line in panel._words.value for line in progress.written if line.isalnum())


def test_the_lines_that_a_model_makes_up_are_folded_so_that_the_panel_keeps_its_height(panel):
    assert "<details" not in panel._words.value
    panel.start(within(TINY))
    assert "<details><summary>Lines that it makes up</summary>" in panel._words.value


def test_the_panel_shows_a_run_while_it_lasts(panel, monkeypatch):
    seen = []
    monkeypatch.setattr(live, "PAUSE", 0.0)
    monkeypatch.setattr(panel, "_show", seen.append)
    panel.start(TINY)
    assert len(seen) == TINY.updates + 1
    assert seen[0].new_loss is None


def test_a_run_that_holds_all_graphs_is_over_the_budget():
    def one_graph(config):
        return variants.large_batches(config)

    panel = live.live_run(one_graph, lambda config: 3)
    panel.start(within(TINY.with_(shortest=40, longest=40)))
    assert not panel.progress.within
    assert "over their budget" in live.describe(panel.progress)


def test_the_panel_says_that_a_function_is_not_written():
    def train(config):
        raise NotImplementedError

    panel = live.live_run(train, lambda config: 3)
    panel.start(TINY)
    assert "train is not written yet" in panel._words.value
    assert panel.error is None


def test_what_torch_has_not_implemented_is_not_taken_for_a_stub():
    def inside_torch(config):
        raise NotImplementedError("not on this device")

    panel = live.live_run(lambda config: inside_torch(config), lambda config: 3)
    panel.start(TINY)
    assert "The run ended with NotImplementedError: not on this device" in panel._words.value
    assert panel.error is not None


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_a_run_that_ends_early_says_why_and_can_be_started_again(error):
    def train(config):
        raise error

    panel = live.live_run(train, lambda config: 3)
    panel.start(TINY)
    assert type(error).__name__ in panel._words.value
    assert 'role="alert"' in panel._words.value
    assert not panel._button.disabled


def test_the_panel_says_that_a_run_was_never_built():
    panel = live.live_run(lambda config: None, lambda config: 3)
    panel.start(TINY)
    assert "never called config.build()" in panel._words.value


def test_no_text_of_the_picture_covers_another(panel):
    panel.start(TINY)
    figure = new_figure(*live.SIZE)
    live.draw(panel.progress, figure)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent().padded(-1.5) for axes in figure.axes for text in axes.texts]
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


@pytest.mark.slow
def test_the_small_run_learns_the_harbour():
    """In whole windows and without counting bytes: the same updates as with any micro-batch size, in a quarter of the time."""
    runs = []
    config = SMALL.with_(micro_batch_size=SMALL.effective_batch, watch=runs.append)
    with one_thread():
        history = variants.train(config)
    assert live.floor(SMALL.text) < live.finished(config, history, 0, runs[0].model).new_loss < 0.3


@pytest.mark.slow
def test_the_small_run_is_within_its_budget_with_micro_batches_of_eight(panel):
    """Its beginning, with the longest lines there are: no later update needs more."""
    panel._pick = lambda config: 8
    panel.start(SMALL.with_(lines=96, shortest=SMALL.longest - 20, epochs=1))
    assert panel.progress.within
