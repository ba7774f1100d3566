"""Let keys reach the controls of a widget, and give names to those that have none.

In command mode JupyterLab takes the keys pressed in an output for its own: an arrow key moves to another cell, B inserts a
cell, X cuts one, even while a list of choices has the focus. It leaves alone elements with the attribute
``data-lm-suppress-shortcuts`` (Lumino, ``CommandRegistry.processKeydownEvent``). ipywidgets cannot set attributes and scripts
in its HTML do not run, so an empty image, once loaded, asks the page to set it when a key is pressed in a control; not for
Ctrl+S, Shift+Enter and the like, which mean the notebook wherever the focus is.

The handle of a slider and the buttons that play it have no name that a screen reader could say. The page is asked to give
them one whenever some appear.
"""

from __future__ import annotations

from html import escape

from gradaccum.still import LIVE

_EMPTY_IMAGE = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
_HANDLE = ".noUi-handle, .ui-slider-handle"  # of ipywidgets 8 and 7
_NAME = (
    "window.gradaccumNames || new MutationObserver(() => {"
    f"document.querySelectorAll('.{LIVE} .widget-slider').forEach((slider) => "
    f"slider.querySelector('{_HANDLE}')?.setAttribute('aria-label', slider.querySelector('label').textContent));"
    f"document.querySelectorAll('.{LIVE} .widget-play').forEach((player) => ['Play or pause', 'Stop', 'Repeat'].forEach("
    "(name, k) => player.querySelectorAll('button')[k]?.setAttribute('aria-label', name)))"
    "}).observe(document.body, {childList: true, subtree: true}); window.gradaccumNames = true;"
)
_ASK = (
    "window.gradaccumKeys || window.addEventListener('keydown', (event) => {"
    f"const control = event.target.closest('.{LIVE} :is(select, input, button, {_HANDLE})');"
    "const forNotebook = event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key === 'Enter');"
    "if (control) control.toggleAttribute('data-lm-suppress-shortcuts', !forNotebook)"
    "}, true); window.gradaccumKeys = true"
)
KEYS_STAY_HERE = (
    f'<img alt="" width="0" height="0" style="position:absolute" src="{_EMPTY_IMAGE}" onload="{escape(_NAME + _ASK)}">'
)
"""HTML for any place in a live widget."""
