"""Pages in the colours of those that show notebooks, and the contrast of texts on them."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

THEMES = {
    "JupyterLab Light": ("rgba(0, 0, 0, 0.87)", "#fff"),
    "JupyterLab Dark": ("#fff", "#111"),
    "VS Code Light Modern": ("#3b3b3b", "#fff"),
    "VS Code Dark Modern": ("#ccc", "#1f1f1f"),
    "a page exported from a notebook": ("#000", "#fff"),
}
"""The colours of text and background."""


def themed(theme: str, html: str) -> str:
    """A page of this theme with some HTML on it."""
    text, background = THEMES[theme]
    style = f"<style>body {{ color: {text}; background: {background} }} a {{ color: inherit }}</style>"
    return f'<!doctype html><html lang="en"><head><title>A page</title>{style}</head><body><main>{html}</main></body></html>'


def text_of_too_little_contrast(page: Page) -> list[str]:
    """What axe says of texts whose contrast is below 4.5, or not known; it does not judge drawings and signs such as ✓."""
    response = Axe().run(page, {"exclude": [["svg"]]}, {"runOnly": ["color-contrast"]}).response
    found = [node for kind in ("violations", "incomplete") for one in response[kind] for node in one["nodes"]]
    said = [f"{node['html'][:200]}: {node['failureSummary']}" for node in found]
    return [one for one in said if "non-text characters" not in one and "too short" not in one]
