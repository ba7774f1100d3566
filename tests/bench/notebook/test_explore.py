"""The panel: controls, picture, caption, errors, and what is left of it without a kernel."""

from __future__ import annotations

import base64
import gc
import html
import re
import subprocess
import sys
import threading
import time
import types
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import ipywidgets as widgets
import nbformat
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from nbconvert import HTMLExporter

from gradaccum import phenomena
from gradaccum.loops import GALLERY
from gradaccum.notebook.explore import Panel, explore
from gradaccum.phenomena import Listing, control

NAMES = phenomena.names()


@dataclass(frozen=True)
class Settings:
    number: int = control(1, "Number", (1, 2, 3))
    count: int = control(4, "Count", range(1, 9))
    doubled: bool = control(False, "Doubled")


def toy(**changes) -> types.SimpleNamespace:
    """A phenomenon that needs no computing; 3 is a number it cannot compute."""

    def compute(settings):
        if settings.number == 3:
            raise ArithmeticError("three is <too> much")
        return settings.number * settings.count * (2 if settings.doubled else 1)

    def draw(result, figure):
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.text(0.5, 0.5, str(result))

    parts = {
        "TITLE": "A <toy>",
        "SIZE": (2.0, 1.0),
        "Settings": Settings,
        "PRESETS": {"Break": Settings(number=2), "Fix": Settings()},
        "compute": compute,
        "draw": draw,
        "describe": lambda result: f'It is {result} & "more".',
    }
    return types.SimpleNamespace(**parts | changes)


def controls(panel: Panel) -> dict[str, widgets.Widget]:
    kinds = (widgets.Dropdown, widgets.Checkbox, widgets.BoundedIntText, widgets.IntSlider)
    return {box.description: box for box in everything(panel) if isinstance(box, kinds)}


def buttons(panel: Panel) -> dict[str, widgets.Button]:
    return {box.description: box for box in everything(panel) if isinstance(box, widgets.Button)}


def everything(box: widgets.Widget) -> list[widgets.Widget]:
    return [box, *(inner for child in getattr(box, "children", ()) for inner in everything(child))]


def page(panel: Panel) -> str:
    """All HTML a panel shows."""
    return "".join(box.value for box in everything(panel) if isinstance(box, widgets.HTML))


@pytest.fixture
def panel() -> Panel:
    return Panel(toy(), Settings())


def test_controls_that_are_moved_in_threads_of_their_own_are_drawn_one_after_the_other():
    """As in JupyterLab with a kernel that has subshells: a second change comes while the first is still being drawn."""
    began, drawn = threading.Event(), []

    def draw(result, figure):
        axes = figure.add_axes((0, 0, 1, 1))
        drawn.append(result)
        if len(drawn) == 2:  # after the opening
            began.set()
            time.sleep(0.1)
        axes.text(0.5, 0.5, str(result))

    panel = Panel(toy(draw=draw), Settings())
    first = threading.Thread(target=lambda: controls(panel)["Count"].set_trait("value", 7))
    first.start()
    assert began.wait(10)
    buttons(panel)["Break"].click()
    first.join()
    assert panel.error is None
    assert panel.settings == Settings(number=2)
    assert panel.caption == 'It is 8 & "more".'
    assert ">8</text>" in page(panel)


def test_a_button_overrules_a_change_that_was_made_before_it_but_is_handled_after_it(panel, monkeypatch):
    asked = datetime(2026, 1, 1, tzinfo=UTC)
    monkeypatch.setattr("gradaccum.notebook.explore._when_asked", lambda: asked)
    panel.set(Settings(number=2, doubled=True))
    said = panel.caption
    asked -= timedelta(milliseconds=5)
    controls(panel)["Count"].value = 7
    assert (controls(panel)["Count"].value, panel.caption) == (4, said)
    asked += timedelta(milliseconds=10)
    controls(panel)["Count"].value = 7
    assert controls(panel)["Count"].value == 7 == panel.settings.count


def test_exploring_an_unknown_phenomenon_lists_the_known_names():
    with pytest.raises(ValueError, match=r"no phenomenon is called 'nonsense'; there are .*gallery"):
        explore("nonsense")


def test_a_value_that_no_control_offers_is_refused_with_the_choices():
    with pytest.raises(ValueError, match=r"loop cannot be 'typo'; choose one of right, no-scale"):
        explore("gallery", loop="typo")


def test_a_setting_that_does_not_exist_is_named():
    with pytest.raises(TypeError, match="speed"):
        explore("gallery", speed=3)


def test_a_panel_opens_on_the_settings_asked_for():
    assert explore("gallery", loop="no-scale").caption.startswith("no-scale, N = 3")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_control_and_button_has_a_name_to_call_it_by(name):
    panel = explore(name)
    named = [*controls(panel).values(), *buttons(panel).values()]
    assert len(controls(panel)) == len(panel._controls)
    assert all(box.description.strip() for box in named)


def test_changing_a_control_changes_picture_alternative_text_and_caption(panel):
    before, picture = panel.caption, panel._picture.value
    controls(panel)["Number"].value = 2
    assert panel.caption == 'It is 8 & "more".'
    assert panel.caption != before
    assert html.escape(panel.caption, quote=True) in panel._picture.value
    assert panel._picture.value != picture
    assert html.escape(panel.caption) in panel._words.value


def test_a_truth_value_is_a_check_box_and_a_range_a_number_field(panel):
    kinds = {name: type(box) for name, box in controls(panel).items()}
    assert kinds == {"Number": widgets.Dropdown, "Count": widgets.BoundedIntText, "Doubled": widgets.Checkbox}
    controls(panel)["Count"].value = 99
    assert panel.settings.count == 8


@dataclass(frozen=True)
class Played:
    count: int = control(3, "Count", range(1, 9), plays=True)


def played_toy():
    return toy(Settings=Played, PRESETS={"Fix": Played(8)}, compute=lambda settings: settings.count)


def test_a_control_that_plays_is_a_slider_and_playing_it_shows_one_picture_after_another():
    panel = Panel(played_toy(), Played())
    (player,) = (box for box in everything(panel) if isinstance(box, widgets.Play))
    captions = []
    while player.value < player.max:
        player.value += 1  # what the page does every time a frame is over
        captions.append(panel.caption)
    assert captions == [f'It is {count} & "more".' for count in range(4, 9)]
    assert controls(panel)["Count"].value == 8


def test_a_player_goes_on_from_where_its_slider_or_a_preset_was_moved():
    panel = Panel(played_toy(), Played())
    (player,) = (box for box in everything(panel) if isinstance(box, widgets.Play))
    assert player.value == 3
    controls(panel)["Count"].value = 5
    assert player.value == 5
    buttons(panel)["Fix"].click()
    assert player.value == 8


def test_nothing_plays_by_itself():
    (player,) = (box for box in everything(Panel(played_toy(), Played())) if isinstance(box, widgets.Play))
    assert not player.playing


def test_only_a_range_can_be_played():
    with pytest.raises(TypeError, match="'Speed' cannot be played"):
        control(1, "Speed", (1, 2), plays=True)


def test_a_preset_moves_all_controls_with_one_new_picture():
    drawn = []
    panel = Panel(toy(draw=lambda result, figure: drawn.append(result), PRESETS={"Both": Settings(2, 5, True)}), Settings())
    drawn.clear()
    buttons(panel)["Both"].click()
    assert {name: box.value for name, box in controls(panel).items()} == {"Number": 2, "Count": 5, "Doubled": True}
    assert drawn == [20]


def test_reset_goes_back_to_the_opening(panel):
    opening = panel.caption
    controls(panel)["Number"].value = 2
    buttons(panel)["Reset"].click()
    assert panel.caption == opening
    assert controls(panel)["Number"].value == 1


def test_a_preset_that_equals_the_opening_is_no_button(panel):
    assert list(buttons(panel)) == ["Break", "Reset"]


def test_a_panel_describes_an_error_and_keeps_it(panel):
    controls(panel)["Number"].value = 3
    assert isinstance(panel.error, ArithmeticError)
    assert "could not be computed: ArithmeticError: three is &lt;too&gt; much" in panel._words.value
    assert 'role="alert"' in panel._words.value
    assert panel._picture.value == "", "the picture of another setting would mislead"


def test_after_an_error_the_next_setting_works(panel):
    controls(panel)["Number"].value = 3
    controls(panel)["Number"].value = 2
    assert panel.error is None
    assert panel.caption == 'It is 8 & "more".'
    assert "alert" not in panel._words.value


def test_a_panel_whose_opening_fails_can_still_be_shown():
    panel = Panel(toy(), Settings(number=3))
    bundle = panel._repr_mimebundle_()
    assert "image/png" not in bundle
    assert "three is" in bundle["text/plain"]


def test_text_of_a_phenomenon_is_escaped(panel):
    assert "A &lt;toy&gt;" in page(panel)
    assert "<toy>" not in page(panel)


@pytest.mark.parametrize(("right", "word"), [(True, "✓ This loop is right"), (False, "✗ This loop is wrong")])
def test_code_is_shown_as_text_and_labelled_right_or_wrong(right, word):
    panel = Panel(toy(code=lambda result: Listing("if a < b:\n    pass\n", right), max_lines=lambda: 2), Settings())
    assert word in page(panel)
    assert "if a &lt; b:\n    pass" in page(panel)
    assert "if a < b" in panel._repr_mimebundle_()["text/plain"]


def test_the_gallery_has_room_for_its_longest_loop_whatever_the_loop():
    panel = explore("gallery")
    longest, rooms = 0, set()
    for loop in GALLERY:
        panel.set(replace(panel.settings, loop=loop))
        longest = max(longest, len(panel._listing.source.splitlines()))
        rooms |= set(re.findall(r"min-height:([\d.]+)em", panel._code.value))
    assert rooms == {f"{1.4 * longest:.1f}"}


def test_the_gallery_changes_code_with_the_loop():
    panel = explore("gallery")
    assert "This loop is wrong" in page(panel)
    assert "def zero_every(" in page(panel)
    controls(panel)["Loop"].value = "right"
    assert "This loop is right" in page(panel)
    assert "def right(" in page(panel)


@pytest.mark.slow
def test_a_hundred_changes_leave_no_figure_behind(panel):
    gc.collect()
    before = figures()
    for k in range(100):
        controls(panel)["Number"].value = 1 + k % 2
    gc.collect()
    assert figures() == before
    assert panel._figure.axes == []


def test_drawn_objects_are_freed_when_the_picture_has_been_sent(panel):
    """Else it grows old, and some later picture waits until all that is old has been looked through."""

    def old_axes() -> int:
        return sum(issubclass(type(thing), Axes) for generation in (1, 2) for thing in gc.get_objects(generation))

    gc.collect()
    before = old_axes()
    for k in range(20):
        panel.set(Settings(number=1 + k % 2))
    assert old_axes() == before


def test_controls_moved_back_compute_nothing_again():
    computed = []
    panel = Panel(toy(compute=lambda settings: computed.append(settings) or settings.number), Settings())
    for number in (2, 1, 2):
        panel.set(Settings(number=number))
    assert computed == [Settings(), Settings(number=2)]
    assert panel.caption == 'It is 2 & "more".'


def figures() -> int:
    return sum(type(thing) is Figure for thing in gc.get_objects())


def test_garbage_collection_continues_after_a_change(panel):
    controls(panel)["Number"].value = 2
    assert gc.isenabled()
    gc.disable()
    try:
        controls(panel)["Number"].value = 1
        assert not gc.isenabled(), "what was switched off stays off"
    finally:
        gc.enable()


@pytest.mark.slow
def test_pyplot_is_not_needed():
    script = "import sys, gradaccum.notebook.explore as e; e.explore('gallery'); print('matplotlib.pyplot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_pages_that_cannot_show_widgets_get_picture_and_words(panel):
    bundle = panel._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert bundle["text/plain"] == f"A <toy>. {panel.caption}"
    assert html.escape(panel.caption, quote=True) in bundle["text/html"]
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == panel.model_id


@pytest.fixture
def outputs(panel, monkeypatch) -> list[nbformat.NotebookNode]:
    """What a cell that ends with a panel puts out."""
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw, metadata=None: shown.append((bundle, metadata or {})))
    panel._ipython_display_()
    return [nbformat.v4.new_output("display_data", data, metadata=metadata) for data, metadata in shown]


def test_a_panel_is_displayed_as_a_hidden_still_and_a_live_widget(panel, outputs):
    still, live = outputs
    assert set(still.data) == {"text/html", "text/plain"}
    assert 'class="gradaccum-still" style="display:none"' in still.data["text/html"]
    assert live.data["image/png"] in still.data["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in live.data
    assert live.metadata["image/png"]["alt"] == panel.caption


def test_a_panel_is_live_as_any_other_widget_is(panel, outputs):
    shown_by_ipywidgets = widgets.HBox._repr_mimebundle_(panel)["application/vnd.jupyter.widget-view+json"]
    assert outputs[1].data["application/vnd.jupyter.widget-view+json"] == shown_by_ipywidgets


def test_a_notebook_without_widget_state_exports_with_the_picture(panel, outputs):
    cell = nbformat.v4.new_code_cell("explore('toy')", outputs=outputs)
    exported, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert exported.count(outputs[1].data["image/png"]) == 2, (
        "the still, and the form of the panel for pages without style sheets"
    )
    assert panel.model_id not in exported
