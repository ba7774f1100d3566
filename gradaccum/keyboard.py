"""Let keys reach the controls of a widget.

In command mode JupyterLab takes the keys pressed in an output for its own: an arrow key moves to another cell, B inserts a
cell, X cuts one, even while a list of choices has the focus. It leaves alone elements with the attribute
``data-lm-suppress-shortcuts`` (Lumino, ``CommandRegistry.processKeydownEvent``). ipywidgets cannot set attributes and scripts
in its HTML do not run, so an empty image, once loaded, asks the page to set it on controls that receive the focus.
"""

from __future__ import annotations

from gradaccum.still import LIVE

_EMPTY_IMAGE = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
_ASK = (
    "window.gradaccumKeys || document.addEventListener('focusin', (event) => {"
    f"if (event.target.matches('.{LIVE} select, .{LIVE} input')) "
    "event.target.setAttribute('data-lm-suppress-shortcuts', '')"
    "}); window.gradaccumKeys = true"
)
KEYS_STAY_HERE = f'<img alt="" width="0" height="0" style="position:absolute" src="{_EMPTY_IMAGE}" onload="{_ASK}">'
"""HTML for any place in a live widget."""
