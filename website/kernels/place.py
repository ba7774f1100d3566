"""Where an explorable goes in what a notebook shows; kernels know nothing of the site's pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

PLACE = re.compile(r'<div data-place-of="(\w+)" data-opening="([^"]*)"></div>')
"""What :func:`place_of_explorable` returns: the name, and the settings to open on as escaped JSON."""


def place_of_explorable(name: str, opening: Mapping[str, Any]) -> str:
    """HTML that Sphinx replaces by the explorable."""
    return f'<div data-place-of="{name}" data-opening="{escape(json.dumps(dict(opening)))}"></div>'
