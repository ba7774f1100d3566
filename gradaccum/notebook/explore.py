"""Turn a phenomenon into a panel of controls, a picture and a caption."""

from __future__ import annotations

import base64
import dataclasses
import functools
import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from html import escape
from types import ModuleType
from typing import Any

import ipywidgets as widgets
from IPython.core.getipython import get_ipython

from gradaccum import phenomena, still
from gradaccum.drawing import DPI, as_png, as_svg, erase, new_figure
from gradaccum.notebook.keyboard import KEYS_STAY_HERE
from gradaccum.phenomena import Listing
from gradaccum.theme import CAPTION, GREEN, PANEL_STYLE, SCROLLS, VERMILLION, title
from gradaccum.threads import one_thread

FRAME = 700
"""Milliseconds between two pictures of a control that plays: time to see what has changed."""

MAX_RESULTS = 64
"""Results that a panel remembers for controls that are moved back."""


def explore(name: str, **settings: Any) -> Panel:
    """The explorable of a phenomenon, as a widget.

    Args:
        name: one of :func:`gradaccum.phenomena.names`.
        settings: values to open on, instead of the defaults.

    Raises:
        ValueError: no phenomenon has this name, or no control offers such a value.
        TypeError: there is no such setting.
    """
    phenomenon = phenomena.load(name)
    opening = phenomenon.Settings(**settings)
    phenomena.check_settings(opening)
    return Panel(phenomenon, opening)


class Panel(widgets.VBox):
    """Controls on top, the picture, its caption. Works by keyboard, with screen readers and on saved pages.

    Attributes:
        phenomenon: the module shown.
        settings: what the controls say.
        caption: the sentence under the picture, which is also its alternative text.
        error: what went wrong at the last change, or None; the caption then says so.
    """

    def __init__(self, phenomenon: ModuleType, opening: Any):
        self.phenomenon, self.opening, self.settings = phenomenon, opening, opening
        self.caption = ""
        self._listing: Listing | None = None
        self.error: Exception | None = None
        self._quiet = False
        self._set_at = _when_asked()
        self._figure = new_figure(*phenomenon.SIZE)
        self._computed = functools.lru_cache(MAX_RESULTS)(phenomenon.compute)
        self._controls = {field.name: _control(field, opening) for field in dataclasses.fields(opening)}
        for box in self._controls.values():
            box.observe(self._changed, names="value")
        self._title = title(phenomenon.TITLE)
        self._picture, self._words, self._code = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self._picture.add_class(SCROLLS)
        presets = phenomena.buttons(phenomenon, opening)
        buttons = _row([self._preset_button(*preset) for preset in presets.items()])
        row = _row([*map(_with_player, self._controls.values()), buttons])
        self._redraw()
        if hasattr(phenomenon, "code"):
            column = widgets.VBox([self._code, self._words], layout={"flex": "1 1 380px", "min_width": "0"})
            shown = widgets.HBox([self._picture, column], layout={"flex_flow": "row wrap", "grid_gap": "4px 16px"})
        else:
            shown = widgets.VBox([self._picture, self._words])
        super().__init__([widgets.HTML(self._title + KEYS_STAY_HERE + PANEL_STYLE), row, shown])
        self.add_class("gradaccum-panel")
        self.add_class(still.LIVE)

    def set(self, settings: Any) -> None:
        """Move all controls at once; one new picture.

        Raises:
            ValueError: no control offers such a value.
        """
        phenomena.check_settings(settings)
        with one_thread(), _garbage_later():
            self._set_at = _when_asked()
            self._move_controls(settings)
            self.settings = settings
            self._redraw()

    def _move_controls(self, settings: Any) -> None:
        self._quiet = True
        try:
            for name, box in self._controls.items():
                box.value = getattr(settings, name)
        finally:
            self._quiet = False

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """The live panel, and for pages without a kernel the picture, the code and the caption."""
        code = [self._listing.source] if self._listing else []
        plain = "\n".join([f"{self.phenomenon.TITLE}. {self.caption}", *code])
        png = self._as_png()
        picture = still.image(png, self.caption, self._size) if png else ""
        page = self._title + picture + self._words.value
        if self._listing:
            column = f'<div style="flex:1 1 380px;min-width:0">{self._code.value}{self._words.value}</div>'
            page = f'{self._title}<div style="display:flex;flex-wrap:wrap;gap:4px 16px">{picture}{column}</div>'
        file = {"image/png": png} if png else {}
        return still.widget_view(self) | file | {"text/html": page, "text/plain": plain}

    def _as_png(self) -> str:
        """The picture as a file in base64, for pages that remove drawings; empty if there is none."""
        if self.error:
            return ""
        figure = new_figure(*self.phenomenon.SIZE)
        with one_thread(), _garbage_later():
            self.phenomenon.draw(self._computed(self.settings), figure)
            return base64.b64encode(as_png(figure)).decode()

    def _ipython_display_(self) -> None:
        still.show(self._repr_mimebundle_(), alt=self.caption)

    def _changed(self, change: dict[str, Any]) -> None:
        with one_thread():  # another control may have been moved meanwhile, or a button pressed
            if not self._quiet and _when_asked() < self._set_at:  # before the button was pressed, but handled after it
                self._move_controls(self.settings)
            settings = type(self.opening)(**{name: box.value for name, box in self._controls.items()})
            if not self._quiet and settings != self.settings:
                self.settings = settings
                self._redraw()

    def _redraw(self) -> None:
        with one_thread(), _garbage_later():
            self._show()
            erase(self._figure)

    def _show(self) -> None:
        try:
            result = self._computed(self.settings)
            self.phenomenon.draw(result, self._figure)
            self.caption, self.error = self.phenomenon.describe(result), None
            self._picture.value = as_svg(self._figure, self.caption)
            self._listing = self.phenomenon.code(result) if hasattr(self.phenomenon, "code") else None
        except Exception as error:
            self._picture.value, self.caption, self._listing, self.error = "", _in_words(error), None, error
        edge = f"border-left:4px solid {VERMILLION};padding-left:10px;" if self.error else ""
        role = 'role="alert"' if self.error else 'aria-live="polite"'
        style = f"{edge}max-width:{max(self._size[0], 560)}px;{CAPTION}"
        # A line is not broken at the sign of an exponent.
        words = re.sub(r"[\d.]+e-\d+", r'<span style="white-space:nowrap">\g<0></span>', escape(self.caption))
        self._words.value = f'<p {role} style="{style}">{words}</p>'
        self._code.value = listing_html(self._listing, self.phenomenon.max_lines()) if self._listing else ""

    @property
    def _size(self) -> tuple[int, int]:
        """Width and height of the picture in pixels of a page."""
        width, height = self.phenomenon.SIZE
        return round(DPI * width), round(DPI * height)

    def _preset_button(self, name: str, settings: Any) -> widgets.Button:
        button = widgets.Button(description=name, layout={"width": "auto"})
        button.on_click(lambda _: self.set(settings))
        return button


def _when_asked() -> datetime:
    """When the page sent the message that is being handled; outside of a kernel, now.

    Each widget's messages may be handled in a thread of its own, so not in the order in which a reader moved and pressed.
    """
    kernel = getattr(get_ipython(), "kernel", None)
    sent = kernel.get_parent("shell").get("header", {}).get("date") if kernel else None
    return sent if isinstance(sent, datetime) and sent.tzinfo else datetime.now(UTC)


def _control(field: dataclasses.Field, opening: Any) -> widgets.Widget:
    """The accessible widget for a field. Toggle buttons have no accessible name, and sliders get theirs from a script."""
    value, label, choices = getattr(opening, field.name), field.metadata["label"], field.metadata["choices"]
    style, width = {"description_width": "initial"}, {"width": "auto"}
    if choices is None:
        return widgets.Checkbox(value=value, description=label, indent=False, layout=width)
    if isinstance(choices, range):
        bounds = {"min": choices[0], "max": choices[-1], "step": choices.step}
        if field.metadata["plays"]:
            return widgets.IntSlider(
                value=value, description=label, style=style, layout={"width": "20em"}, readout=False, **bounds
            )
        return widgets.BoundedIntText(value=value, description=label, style=style, layout={"width": "max-content"}, **bounds)
    options = phenomena.offered(field).items()
    return widgets.Dropdown(options=options, value=value, description=label, style=style, layout=width)


def _row(children: list[widgets.Widget]) -> widgets.HBox:
    """Widgets next to each other; what has no room there goes to the next line, and a row within a row does so as a whole."""
    layout = {"flex_flow": "row wrap", "align_items": "center", "grid_gap": "4px 12px", "max_width": "100%"}
    return widgets.HBox(children, layout=layout)


def _with_player(box: widgets.Widget) -> widgets.Widget:
    """A slider with buttons that play it; any other control as it is."""
    if not isinstance(box, widgets.IntSlider):
        return box
    bounds = {"value": box.value, "min": box.min, "max": box.max, "step": box.step}
    player = widgets.Play(interval=FRAME, show_repeat=False, **bounds)
    widgets.link((player, "value"), (box, "value"))
    return widgets.HBox([player, box], layout={"align_items": "center", "max_width": "100%"})


@contextmanager
def _garbage_later() -> Iterator[None]:
    """Collect the garbage of a redraw only when the picture has been sent.

    What was drawn is erased by then and, because nothing was collected meanwhile, still in the youngest generation: it is found
    without searching what torch and others have in memory, which takes 0.2 s.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.collect(0)
            gc.enable()


def _in_words(error: Exception) -> str:
    return f"This setting could not be computed: {type(error).__name__}: {error}"


def listing_html(listing: Listing, lines: int) -> str:
    """A listing as HTML, with room for so many lines.

    Text keeps the page's own colour, which is readable on light and dark pages; sign and word say what the edge says.
    """
    sign, color, said = ("✓", GREEN, "right") if listing.right else ("✗", VERMILLION, "wrong")
    return (
        f'<div style="border-left:4px solid {color};padding:0 0 0 10px">'
        f'<div style="font-weight:600">{sign} This loop is {said}</div>'
        f'<pre tabindex="0" aria-label="Code of a loop that is {said}" style="font:12px/1.4 monospace;margin:4px 0;'
        f"min-height:{1.4 * lines:.1f}em;"
        f'overflow-x:auto;white-space:pre;user-select:text">{escape(listing.source)}</pre></div>'
    )
