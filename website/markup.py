"""HTML of explorables, which static/gradaccum.js brings to life."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import Field, asdict, fields
from html import escape, unescape
from typing import Any

from gradaccum import phenomena
from gradaccum.drawing import DPI
from website.kernels.place import PLACE
from website.pictures import State, all_settings


def with_explorables(html: str, states: Mapping[str, Sequence[State]], root: str) -> str:
    """The HTML with an explorable at each place for one; ``root`` leads from the page to the top of the site."""
    return PLACE.sub(lambda found: _explorable(found[1], json.loads(unescape(found[2])), states[found[1]], root), html)


def data_script(name: str, states: Sequence[State]) -> str:
    """A script that hands over all states of an explorable; pages opened as files may load scripts, but no JSON."""
    pictures = sorted({state.picture for state in states})
    codes = sorted({state.code for state in states})
    rows = [[pictures.index(state.picture), state.caption, codes.index(state.code)] for state in states]
    return f"gradaccumData({json.dumps({'name': name, 'pictures': pictures, 'codes': codes, 'states': rows})});\n"


def _explorable(name: str, opening: Mapping[str, Any], states: Sequence[State], root: str) -> str:
    phenomenon = phenomena.load(name)
    settings = phenomenon.Settings(**opening)
    state = states[all_settings(name).index(settings)]
    width, height = (round(DPI * inches) for inches in phenomenon.SIZE)
    controls = [_control(field, getattr(settings, field.name)) for field in fields(settings)]
    presets = phenomena.buttons(phenomenon, settings)
    controls += [
        f'<button type="button" data-preset="{_places(preset)}">{escape(label)}</button>' for label, preset in presets.items()
    ]
    title = escape(phenomenon.TITLE)
    return (
        f'<section class="explorable" data-name="{name}" data-root="{root}" aria-label="{title}, explorable">'
        f'<p class="explorable-title">{title}</p>'
        f'<form hidden autocomplete="off">{"".join(controls)}</form>'
        f'<figure><div class="scrolling"><img alt="{escape(state.caption)}" src="{root}explorables/{state.picture}" '
        f'width="{width}" height="{height}"></div>'
        f'<div class="explorable-words"><div class="explorable-code">{state.code}</div>'
        f'<figcaption aria-live="polite">{escape(state.caption)}</figcaption></div></figure></section>'
    )


def _control(field: Field, value: Any) -> str:
    """A control whose value is the place of a setting's value among those offered, except in number fields and sliders."""
    label, choices = escape(field.metadata["label"]), field.metadata["choices"]
    if choices is None:
        return f'<label><input type="checkbox"{" checked" if value else ""}> {label}</label>'
    if isinstance(choices, range):
        bounds = f'min="{choices[0]}" max="{choices[-1]}" step="{choices.step}"'
        if field.metadata["plays"]:
            slider = f'<label>{label} <input type="range" value="{value}" {bounds}> <output>{value}</output></label>'
            return f'<span class="player"><button type="button" data-play>Play</button>{slider}</span>'
        return f'<label>{label} <input type="number" value="{value}" {bounds}></label>'
    options = "".join(
        f"<option{' selected' if one == value else ''}>{escape(shown)}</option>"
        for shown, one in phenomena.offered(field).items()
    )
    return f"<label>{label} <select>{options}</select></label>"


def _places(settings: Any) -> str:
    """The places of a setting's values among those that the controls offer."""
    values = asdict(settings)
    return ",".join(str(list(phenomena.offered(field).values()).index(values[field.name])) for field in fields(settings))
