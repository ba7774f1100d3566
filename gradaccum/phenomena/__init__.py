"""Phenomena: what an experiment shows, one file each.

A phenomenon is a module with

- ``TITLE``: its name, and ``SIZE``: width and height of its picture in inches;
- ``Settings``: a frozen dataclass whose fields are made by :func:`control`; the defaults are the opening setting;
- ``PRESETS``: settings by name, ``"Break"`` and ``"Fix"`` where they make sense;
- ``compute(settings) -> Result``: the experiment, seeded, without side effects; ``Result`` is a frozen dataclass;
- ``draw(result, figure)``: the picture, on an empty figure;
- ``describe(result) -> str``: one or two sentences with the measured numbers and what to notice. It is the caption and the
  picture's alternative text;
- where code belongs to the picture, ``code(result) -> Listing``: text that is shown next to it and can be selected; and
  ``max_lines() -> int``, how long the longest is.

:func:`load` finds one by name; :func:`gradaccum.notebook.explore.explore` gives it controls.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any


def control(
    default: Any, label: str, choices: Sequence[Any] | range | dict[str, Any] | None = None, *, plays: bool = False
) -> Any:
    """A field of ``Settings`` that a student can change.

    Args:
        default: its value in the opening setting.
        label: what the control is called.
        choices: the values to choose from, as a sequence or as a mapping from what is shown to the value; a ``range`` of
            whole numbers for a number field; None for a truth value.
        plays: whether a range is a slider that can be played from its place to its end: for time, and what is like it.
    """
    if choices is None and not isinstance(default, bool):
        raise TypeError(f"{label!r} needs choices: only truth values do without")
    if plays and not isinstance(choices, range):
        raise TypeError(f"{label!r} cannot be played: it is no range")
    if choices is not None and default not in (choices.values() if isinstance(choices, dict) else choices):
        raise ValueError(f"the default {default!r} of {label!r} is not among its choices")
    return dataclasses.field(default=default, metadata={"label": label, "choices": choices, "plays": plays})


@dataclass(frozen=True)
class Listing:
    """Code next to a picture.

    Attributes:
        source: the code.
        right: whether it does what it should; code that does not is always shown as wrong.
    """

    source: str
    right: bool


def names() -> list[str]:
    """The names of all phenomena."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def load(name: str) -> ModuleType:
    """The module of a phenomenon.

    Raises:
        ValueError: no phenomenon has this name.
    """
    if name not in names():
        raise ValueError(f"no phenomenon is called {name!r}; there are {', '.join(names())}")
    return importlib.import_module(f"{__name__}.{name}")


def offered(field: dataclasses.Field) -> dict[str, Any]:
    """The values that a control offers, by what is shown for each."""
    choices = field.metadata["choices"]
    if choices is None:
        return {"off": False, "on": True}
    return dict(choices) if isinstance(choices, dict) else {_shown(choice): choice for choice in choices}


def _shown(choice: Any) -> str:
    return f"{choice:,}" if isinstance(choice, int) else str(choice)


def buttons(phenomenon: ModuleType, opening: Any) -> dict[str, Any]:
    """The settings that each button of an explorable moves all controls to, by what is written on it."""
    return {name: preset for name, preset in phenomenon.PRESETS.items() if preset != opening} | {"Reset": opening}


def check_settings(settings: Any) -> None:
    """Refuse a value that no control offers.

    Raises:
        ValueError: naming the field, the value and the choices.
    """
    for field in dataclasses.fields(settings):
        value, allowed = getattr(settings, field.name), offered(field).values()
        if value not in allowed:
            raise ValueError(f"{field.name} cannot be {value!r}; choose one of {', '.join(map(str, allowed))}")
