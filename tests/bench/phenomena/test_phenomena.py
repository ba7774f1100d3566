"""Every phenomenon: its settings, its captions and its pictures. What holds for one holds for the next that is added."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest

from gradaccum import phenomena
from gradaccum.drawing import as_png, new_figure
from gradaccum.loops import GALLERY, source

NAMES = phenomena.names()
MAX_WIDTH = 10.0
"""Inches; about what a notebook of JupyterLab shows on a small laptop without scrolling."""


def choices(field: dataclasses.Field) -> list[Any]:
    """What a control offers; of a long range its ends and its middle."""
    offered = field.metadata["choices"]
    if offered is None:
        return [False, True]
    if isinstance(offered, range):
        return sorted({offered[0], offered[len(offered) // 2], offered[-1]})
    return list(offered.values() if isinstance(offered, dict) else offered)


def one_move_away(name: str) -> list[Any]:
    """The opening, the presets, and every setting that differs from the opening in one control."""
    module = phenomena.load(name)
    opening = module.Settings()
    moved = [dataclasses.replace(opening, **{f.name: v}) for f in dataclasses.fields(opening) for v in choices(f)]
    return list(dict.fromkeys([opening, *module.PRESETS.values(), *moved]))


@functools.cache
def result_of(name: str, settings: Any) -> Any:
    return phenomena.load(name).compute(settings)


def drawn(name: str, settings: Any):
    module = phenomena.load(name)
    figure = new_figure(*module.SIZE)
    module.draw(result_of(name, settings), figure)
    return figure


def described(name: str, settings: Any) -> str:
    return phenomena.load(name).describe(result_of(name, settings))


def cases(name: str) -> Iterator:
    """Opening and presets always; the rest takes its time."""
    first = 1 + len(phenomena.load(name).PRESETS)
    for k, settings in enumerate(one_move_away(name)):
        yield pytest.param(name, settings, id=f"{name}-{k}", marks=[] if k < first else [pytest.mark.slow])


ALL = [case for name in NAMES for case in cases(name)]


def test_loading_an_unknown_phenomenon_lists_the_known_names():
    with pytest.raises(ValueError, match=r"'nonsense'; there are .*equivalence"):
        phenomena.load("nonsense")


@pytest.mark.parametrize("name", NAMES)
def test_a_phenomenon_has_at_most_three_controls_and_a_picture_that_fits(name):
    module = phenomena.load(name)
    assert 1 <= len(dataclasses.fields(module.Settings)) <= 3
    assert module.SIZE[0] <= MAX_WIDTH
    assert all(field.metadata["label"] for field in dataclasses.fields(module.Settings))


@pytest.mark.parametrize("name", NAMES)
def test_settings_of_a_phenomenon_are_frozen(name):
    settings = phenomena.load(name).Settings()
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(settings, dataclasses.fields(settings)[0].name, None)


@pytest.mark.parametrize("name", NAMES)
def test_the_opening_and_the_presets_are_settings_the_controls_offer(name):
    module = phenomena.load(name)
    for settings in (module.Settings(), *module.PRESETS.values()):
        phenomena.check_settings(settings)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_same_settings_give_the_same_words_and_picture(name):
    module = phenomena.load(name)
    results = [module.compute(module.Settings()) for _ in range(2)]
    assert module.describe(results[0]) == module.describe(results[1])
    pictures = []
    for result in results:
        figure = new_figure(*module.SIZE)
        module.draw(result, figure)
        pictures.append(as_png(figure))
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize(("name", "settings"), ALL)
def test_the_caption_is_one_to_four_finished_sentences_with_a_number_in_it(name, settings):
    caption = described(name, settings)
    assert caption[0].isupper() or caption.split(",")[0] in GALLERY
    assert caption.endswith(".")
    assert any(letter.isdigit() for letter in caption)
    assert "nan" not in caption.lower().split()
    assert caption.count(". ") <= 3
    assert not re.search(r"(?<![\d,.])(?<!and )1 (updates|samples|micro-batches|losses)\b|0e\+00", caption)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_control_changes_the_caption(name):
    module = phenomena.load(name)
    opening = module.Settings()
    for field in dataclasses.fields(opening):
        said = {described(name, dataclasses.replace(opening, **{field.name: value})) for value in choices(field)}
        assert len(said) == len(choices(field)), field.name


def seen_ticks(axis) -> list:
    """Labels of the ticks within the limits; matplotlib also keeps some beyond them."""
    low, high = sorted(axis.get_view_interval())
    pairs = zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
    return [label for place, label in pairs if low - 1e-9 <= place <= high + 1e-9]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "settings"), ALL)
def test_no_label_is_cut_off_or_covers_another(name, settings):
    figure = drawn(name, settings)
    figure.draw_without_rendering()  # places every text; pixels are not looked at
    boxes = {}
    for axes in figure.axes:
        ticks = [tick for axis in (axes.xaxis, axes.yaxis) for tick in seen_ticks(axis)] if axes.axison else []
        titles = [axes.title, axes._left_title, axes._right_title]
        labels = [axes.xaxis.label, axes.yaxis.label] if axes.axison else []
        for text in (*axes.texts, *titles, *labels, *ticks):
            if text.get_text().strip() and text.get_visible():
                boxes[text] = text.get_window_extent().padded(-1.5)
    width, height = figure.bbox.size
    for text, box in boxes.items():
        inside = box.x0 > -1 and box.y0 > -1 and box.x1 < width + 1 and box.y1 < height + 1
        assert inside, f"{text.get_text()!r} is cut off"
    for (one, box), (other, another) in itertools.combinations(boxes.items(), 2):
        assert not box.overlaps(another), f"{one.get_text()!r} covers {other.get_text()!r}"


def test_the_two_gradients_agree_in_words_and_numbers():
    module = phenomena.load("equivalence")
    divided = result_of("equivalence", module.Settings(precision="float64"))
    assert divided.difference < 1e-14
    assert "The two gradients are the same." in module.describe(divided)
    summed = result_of("equivalence", module.Settings(divide=False))
    assert summed.difference == pytest.approx(3, rel=1e-5)
    assert "300%" in module.describe(summed)


@pytest.mark.parametrize("slug", GALLERY)
def test_the_gallery_shows_a_loop_s_code_and_whether_it_is_right(slug):
    module = phenomena.load("gallery")
    listing = module.code(result_of("gallery", module.Settings(loop=slug)))
    assert listing.source == source(slug)
    assert listing.right == (slug == "right")


@pytest.mark.parametrize("slug", [slug for slug in GALLERY if slug != "right"])
def test_what_is_wrong_with_a_loop_shows_on_uneven_micro_batches(slug):
    module = phenomena.load("gallery")
    result = result_of("gallery", module.Settings(loop=slug))
    assert not result.found.same_as(result.due)
    assert described("gallery", result.settings) != described("gallery", module.Settings(loop="right"))


def test_the_gallery_says_so_where_micro_batches_cannot_show_a_mistake():
    module = phenomena.load("gallery")
    result = result_of("gallery", module.PRESETS["Hide it"])
    assert result.found.same_as(result.due)
    assert "cannot show" in module.describe(result)


@pytest.mark.parametrize("slug", ["right", "zero-every", "step-every", "never-zero", "retained-graph"])
def test_the_timeline_s_memory_ends_where_its_blocks_end(slug):
    result = result_of("timeline", phenomena.load("timeline").Settings(loop=slug))
    last = result.run.moments[-1]
    assert 0 < result.run.times[-1] <= last.start + last.length
    assert list(result.run.times) == sorted(result.run.times)
    ends = [moment.start + moment.length for moment in result.run.moments]
    assert ends[:-1] == [moment.start for moment in result.run.moments[1:]]


@pytest.mark.parametrize("slug", ["right", "zero-every", "step-every", "never-zero", "retained-graph"])
def test_what_grad_holds_at_a_step_of_the_timeline_is_the_row_of_the_fingerprint(slug):
    run = result_of("timeline", phenomena.load("timeline").Settings(loop=slug)).run
    steps = [k for k, moment in enumerate(run.moments) if moment.kind == "step"]
    assert len(steps) == len(run.found.coefficients)
    assert run.held[steps].allclose(run.found.coefficients, rtol=0, atol=1e-9)


def test_clearing_too_early_leaves_only_the_last_micro_batch_in_grad():
    module = phenomena.load("timeline")
    result = result_of("timeline", module.Settings())
    assert result.held.tolist() == pytest.approx([0, 0, 0, 1 / 4, 0, 0, 0, 0], abs=1e-9)
    assert "holds 1/4 of micro-batch 4 alone" in module.describe(result)


def test_a_right_loop_s_memory_does_not_grow_within_a_window():
    run = result_of("timeline", phenomena.load("timeline").Settings(loop="right")).run
    peaks = [peak_of(run, moment) for moment in run.moments if moment.kind == "backward"]
    assert max(peaks[1:4]) == pytest.approx(min(peaks[1:4]))


def test_keeping_every_graph_shows_as_growing_memory():
    module = phenomena.load("timeline")
    result = result_of("timeline", module.PRESETS["Fill the memory"])
    peaks = [peak_of(result.run, moment) for moment in result.run.moments if moment.kind == "backward"]
    assert peaks[0] < peaks[1] < peaks[2] < peaks[3]
    times = result.run.peak / result.right_peak
    assert times > 2
    assert f"{times:.1f} times a right loop's" in module.describe(result)


def peak_of(run, moment) -> float:
    inside = [kb for t, kb in zip(run.times, run.kilobytes, strict=True) if moment.start <= t < moment.start + moment.length]
    return max(inside)


def test_a_moment_after_the_end_is_the_last_one():
    module = phenomena.load("timeline")
    result = result_of("timeline", module.Settings(loop="right", moment=module.MOMENTS))
    assert result.number == len(result.run.moments) < module.MOMENTS
    assert f"Moment {result.number}, the last one" in module.describe(result)


@pytest.mark.parametrize("n", [2, 4, 8])
def test_without_the_division_sgd_updates_are_n_times_too_long(n):
    module = phenomena.load("missing_scale")
    result = result_of("missing_scale", module.Settings(accumulation_steps=n))
    assert result.ratios.tolist() == pytest.approx([n] * module.UPDATES)
    assert f"{n:.2f} times as long as due" in module.describe(result)


@pytest.mark.parametrize("optimizer", ["sgd", "clipped", "adamw"])
def test_with_the_division_every_update_is_the_due_one(optimizer):
    module = phenomena.load("missing_scale")
    result = result_of("missing_scale", module.Settings(divide=True, optimizer=optimizer))
    assert float(result.differences.max()) < 1e-12
    assert result.path.equal(result.right_path)


def test_adamw_hides_the_missing_division():
    module = phenomena.load("missing_scale")
    result = result_of("missing_scale", module.PRESETS["Hide it"])
    assert 0 < float(result.differences.max()) < 1e-6
    assert "does not show" in module.describe(result)


def test_clipping_hides_the_missing_division_only_while_it_acts():
    module = phenomena.load("missing_scale")
    result = result_of("missing_scale", module.Settings(optimizer="clipped"))
    hidden = int(((result.ratios - 1).abs() < module.SAME).sum())
    assert 0 < hidden < module.UPDATES
    assert float(result.ratios.max()) > 2
    assert f"{hidden} of {module.UPDATES} updates are cut to the due length" in module.describe(result)


def test_a_leftover_is_read_as_an_average_over_what_there_is():
    module = phenomena.load("fingerprint_reading")
    result = result_of("fingerprint_reading", module.Settings(accumulation_steps=4, micro_batches=10))
    assert result.found.coefficients[2].tolist() == pytest.approx([0] * 8 + [1 / 2] * 2, abs=1e-9)
    assert "a leftover of 2 micro-batches, which weigh 1/2 each" in module.describe(result)
