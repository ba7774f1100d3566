"""Turn a phenomenon into a panel of controls, a picture and a caption."""

from __future__ import annotations

import base64
import dataclasses
import io
from html import escape
from types import ModuleType
from typing import Any

import ipywidgets as widgets

from gradaccum import phenomena
from gradaccum.drawing import DPI, new_figure


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
    """Controls on top, the picture, its caption. Keyboard, screen readers and saved pages are served.

    Attributes:
        phenomenon: the module shown.
        settings: what the controls say.
        caption: the sentence under the picture, which is also its alternative text.
        error: what went wrong at the last change, or None.
    """

    def __init__(self, phenomenon: ModuleType, opening: Any):
        self.phenomenon, self.opening, self.settings = phenomenon, opening, opening
        self.caption, self.error = "", None
        self._quiet = False
        self._figure = new_figure(*phenomenon.SIZE)
        self._controls = {field.name: _control(field, opening) for field in dataclasses.fields(opening)}
        for box in self._controls.values():
            box.observe(self._changed, names="value")
        self._picture, self._words = widgets.HTML(), widgets.HTML()
        title = widgets.HTML(f'<div style="font-weight:600">{escape(phenomenon.TITLE)}</div>')
        presets = dict(phenomenon.PRESETS.items()) | {"Reset": opening}
        row = widgets.HBox(
            [*self._controls.values(), *(self._preset_button(*preset) for preset in presets.items())],
            layout={"flex_flow": "row wrap", "align_items": "center", "grid_gap": "4px 12px"},
        )
        self._redraw()
        super().__init__([title, row, self._picture, self._words])
        self.add_class("gradaccum-panel")

    def set(self, settings: Any) -> None:
        """Move all controls at once; one new picture.

        Raises:
            ValueError: no control offers such a value.
        """
        phenomena.check_settings(settings)
        self._quiet = True
        try:
            for name, box in self._controls.items():
                box.value = getattr(settings, name)
        finally:
            self._quiet = False
        self.settings = settings
        self._redraw()

    def _repr_mimebundle_(self, **kwargs) -> dict[str, Any]:
        """The live panel, and for pages without a kernel the picture and its caption."""
        bundle = super()._repr_mimebundle_(**kwargs)
        return bundle | {"image/png": self._png, "text/plain": f"{self.phenomenon.TITLE}. {self.caption}"}

    def _changed(self, change) -> None:
        if not self._quiet:
            values = {name: box.value for name, box in self._controls.items()}
            self.settings = type(self.opening)(**values)
            self._redraw()

    def _redraw(self) -> None:
        try:
            result = self.phenomenon.compute(self.settings)
            self._figure.clear()
            self.phenomenon.draw(result, self._figure)
            self._png = _png(self._figure)
            self.caption, self.error = self.phenomenon.describe(result), None
        except Exception as error:
            self.error = error
            said = f"This setting could not be computed: {type(error).__name__}: {error}"
            self._words.value = f'<p role="alert" style="color:#B54700">{escape(said)}</p>'
            return
        width, height = (round(DPI * inches) for inches in self.phenomenon.SIZE)
        self._picture.value = (
            f'<img alt="{escape(self.caption, quote=True)}" src="data:image/png;base64,{self._png}" '
            f'width="{width}" height="{height}" style="max-width:100%;height:auto">'
        )
        self._words.value = f'<p aria-live="polite" style="max-width:75ch;margin:0">{escape(self.caption)}</p>'

    def _preset_button(self, name: str, settings: Any) -> widgets.Button:
        button = widgets.Button(description=name, layout={"width": "auto"})
        button.on_click(lambda _: self.set(settings))
        return button


def _control(field: dataclasses.Field, opening: Any) -> widgets.Widget:
    """The accessible widget for a field; plain sliders and toggle buttons have no accessible name."""
    value, label, choices = getattr(opening, field.name), field.metadata["label"], field.metadata["choices"]
    style, width = {"description_width": "initial"}, {"width": "auto"}
    if choices is None:
        return widgets.Checkbox(value=value, description=label, indent=False, layout=width)
    if isinstance(choices, range):
        bounds = {"min": choices[0], "max": choices[-1], "step": choices.step}
        return widgets.BoundedIntText(value=value, description=label, style=style, layout={"width": "12em"}, **bounds)
    options = list(choices.items()) if isinstance(choices, dict) else [(str(choice), choice) for choice in choices]
    return widgets.Dropdown(options=options, value=value, description=label, style=style, layout=width)


def _png(figure) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    return base64.b64encode(buffer.getvalue()).decode()
