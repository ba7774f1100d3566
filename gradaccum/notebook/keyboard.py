"""Let keys reach the controls of a widget.

In command mode JupyterLab takes the keys pressed in an output for its own: an arrow key moves to another cell, B inserts a
cell, X cuts one, even while a list of choices has the focus. It leaves alone elements with the attribute
``data-lm-suppress-shortcuts`` (Lumino, ``CommandRegistry.processKeydownEvent``). ipywidgets cannot set attributes and scripts
in its HTML do not run, so an empty image, once loaded, asks the page to set it when a key is pressed in a control; not for
Ctrl+S, Shift+Enter and the like, which mean the notebook wherever the focus is.
"""

from __future__ import annotations

from html import escape

from gradaccum.still import LIVE

_EMPTY_IMAGE = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
_ASK = (
    "window.gradaccumKeys || window.addEventListener('keydown', (event) => {"
    f"const control = event.target.closest('.{LIVE} select, .{LIVE} input');"
    "const forNotebook = event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key === 'Enter');"
    "if (control) control.toggleAttribute('data-lm-suppress-shortcuts', !forNotebook)"
    "}, true); window.gradaccumKeys = true"
)
KEYS_STAY_HERE = f'<img alt="" width="0" height="0" style="position:absolute" src="{_EMPTY_IMAGE}" onload="{escape(_ASK)}">'
"""HTML for any place in a live widget."""
