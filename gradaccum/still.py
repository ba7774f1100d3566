"""What a page shows of a widget when no kernel is behind it.

A notebook saved without widget state keeps no more than the id of a widget. JupyterLab prefers that id to everything else in
the output and, when the kernel is gone, prints "Error displaying widget: model not found" in its place. So the widget is
shown as two outputs: a still, hidden while the widget lives, and the widget itself with the still as its plain-page form,
hidden while it does not live. Style sheets decide, no script is needed. Where the page is no JupyterLab page (nbconvert's
other templates, VS Code) or the notebook is not trusted (style sheets are removed), the still stays hidden and the second
output's own forms are shown.
"""

from __future__ import annotations

from html import escape
from typing import Any

LIVE = "gradaccum-live"
"""The class of widgets that replace the still above them."""

_CHILD = ".jp-OutputArea-child"
_STYLE = (
    "<style>"
    f"{_CHILD}:has(.gradaccum-still):not(:has(+ * .{LIVE})) .gradaccum-still{{display:block!important}}"
    f"{_CHILD}:has(.gradaccum-still):has(+ * .{LIVE}){{display:none}}"
    f"{_CHILD}:has(.gradaccum-still)+:not(:has(.{LIVE})){{display:none}}"
    "</style>"
)


PICTURE = "gradaccum-picture"
"""The class of pictures, which are drawn on white."""

ON_DARK_PAGES = (
    ':is([data-jp-theme-light="false"],.vscode-dark,[theme="dark"]) '
    f".{PICTURE}:not(.cell-output-ipywidget-background *){{filter:invert(.93) hue-rotate(180deg)}}"
)
"""Dark pages of JupyterLab, VS Code and Colab show pictures with light and dark exchanged and the hues kept.

In VS Code widgets have a white background in every theme. The site has the same rule for all its pictures in gradaccum.css.
"""


LEAST_WIDTH = 0.76
"""The share of its width that a picture keeps on narrower pages: its texts stay legible, and one scrolls to the rest."""


def fitted(picture: str, width: int) -> str:
    """A picture as HTML that fits into narrower pages, or scrolls there.

    Args:
        picture: an element with ``{}`` where its style goes.
        width: in pixels.
    """
    style = f"max-width:100%;min-width:{round(LEAST_WIDTH * width)}px;height:auto;display:block"
    return f'<div class="gradaccum-fitted" style="overflow-x:auto">{picture.replace("{}", style, 1)}</div>'


def show(bundle: dict[str, Any], alt: str = "") -> None:
    """Show a widget and, for pages without a kernel, its still.

    Args:
        bundle: the widget's mime bundle; its ``text/html`` is the still.
        alt: the alternative text of its ``image/png``, if it has one.
    """
    from IPython.display import display

    still = f'{_STYLE}<div class="gradaccum-still" style="display:none">{bundle["text/html"]}</div>'
    display({"text/html": still, "text/plain": ""}, raw=True)
    display(bundle, metadata={"image/png": {"alt": alt}} if "image/png" in bundle else {}, raw=True)


def widget_view(widget: Any) -> dict[str, Any]:
    """What makes a page show a live widget, as part of a mime bundle; ipywidgets 7 has no method that returns this."""
    return {"application/vnd.jupyter.widget-view+json": {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}}


def image(png: str, alt: str, size: tuple[int, int]) -> str:
    """A picture as HTML.

    Args:
        png: the file, in base64.
        alt: its alternative text.
        size: width and height in pixels.
    """
    shown = (
        f'<img class="{PICTURE}" style="{{}}" width="{size[0]}" height="{size[1]}" alt="{escape(alt, quote=True)}" '
        f'src="data:image/png;base64,{png}">'
    )
    return f"<style>{ON_DARK_PAGES}</style>{fitted(shown, size[0])}"
