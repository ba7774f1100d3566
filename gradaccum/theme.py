"""Colours on pages of any theme, light or dark, and the card on which verdicts and reports are shown.

HTML keeps the page's own text colour and lays thin tints over the page's own background, so one piece of HTML fits JupyterLab,
VS Code, the site and an exported notebook, whatever their theme; nothing asks for its name. What a sanitiser removes of it,
such as ``color-mix``, leaves the page's own colours, which are legible, too. Edges and frames are plain Okabe-Ito colours, with
a contrast of 3 on white and on black.
"""

from __future__ import annotations

from html import escape
from urllib.parse import quote

BLUE, VERMILLION, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#6b6b6b"
"""Okabe-Ito colours, distinguishable with every kind of colour vision; never the only sign: words or line styles differ."""

FAINT = "rgba(128,128,128,.15)"
"""Of areas that are set off from the page."""

LINE = "rgba(128,128,128,.45)"


def text_color(color: str) -> str:
    """A colour for text: nearer to the page's own text, for a contrast of 4.5 wherever that has one of 7."""
    return f"color-mix(in srgb, {color} 70%, currentColor)"


def tint(color: str, share: float) -> str:
    """So much of a colour over the page's own background."""
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share:.2f})"


def card(color: str, headline: str, parts: list[str]) -> str:
    """A box with an edge of this colour, a headline in it, and some HTML."""
    head = f'<div style="font-weight:600;font-size:15px;color:{text_color(color)}">{escape(headline)}</div>' if headline else ""
    return f'<div style="{_CARD}border-left:4px solid {color}">{head}{"".join(parts)}</div>'


_CARD = (
    f"border:1px solid {LINE};border-radius:4px;padding:8px 14px;max-width:1120px;"
    "font-family:Arial,Helvetica,sans-serif;font-size:14px;line-height:1.45;"
)


def title(text: str) -> str:
    """The name of a panel, above its controls."""
    return f'<div style="font-weight:600">{escape(text)}</div>'


CAPTION = "margin:0;line-height:1.45;min-height:4.35em"
"""The style of the text below a panel's picture: there is room for three lines, so that nothing moves when it changes."""


SCROLLS = "gradaccum-scrolls"
"""The class of a widget whose picture changes. It scrolls, and not what is in it: a new picture stays where the old one was."""

_ARROW = quote(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 18 18"><path fill="#ccc" d="m5 6 4 4 4-4 1 1-5 5-5-5z"/></svg>'
)
PANEL_STYLE = (
    '<style>[data-jp-theme-light="false"] .widget-dropdown'
    f'{{--jp-widgets-dropdown-arrow:url("data:image/svg+xml,{_ARROW}")}}'
    ".gradaccum-live :is(.widget-html,.widget-html-content){min-width:0;max-width:100%}"
    f".{SCROLLS} .widget-html-content{{overflow-x:auto}}.{SCROLLS} .gradaccum-fitted{{overflow:visible!important}}"
    "@media (max-width:900px){.gradaccum-panel p{min-height:7.25em!important}}</style>"
)
"""Of all panels. On dark pages ipywidgets leaves the arrows of lists of choices black. On narrow pages only the picture is to
scroll, not the controls and the caption with it, and captions need more lines."""


def paragraph(html: str) -> str:
    """Some HTML as a paragraph that is not too wide to read."""
    return f'<p style="margin:6px 0;max-width:80ch">{html}</p>'


def slug_html(slug: str) -> str:
    """The name of a mistake."""
    return f'<code style="{_SLUG}">{escape(slug)}</code>'


_SLUG = (
    f"color:{text_color(VERMILLION)};background:{tint(VERMILLION, 0.12)};padding:1px 5px;border-radius:3px;"
    "white-space:nowrap;font-size:13px"
)


def side_by_side(tables: tuple[str, ...]) -> str:
    """Tables next to each other, or below each other where there is no room."""
    return f'<div style="display:flex;flex-wrap:wrap;gap:10px 20px;margin:10px 0">{"".join(tables)}</div>'
