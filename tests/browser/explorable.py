"""An explorable on a page, driven by keyboard alone."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Locator, expect


@dataclass(frozen=True)
class Explorable:
    """The panel of a phenomenon."""

    panel: Locator

    @property
    def name(self) -> str:
        return self.panel.locator("div[style*='font-weight']").first.text_content()

    @property
    def controls(self) -> list[Locator]:
        return self.panel.locator("select, input, .noUi-handle").all()

    @property
    def buttons(self) -> list[str]:
        return [text.strip() for text in self.panel.locator("button.widget-button").all_text_contents()]

    @property
    def picture(self) -> Locator:
        return self.panel.locator("svg[role='img']")

    @property
    def alt(self) -> str:
        return self.picture.get_attribute("aria-label")

    @property
    def scrolled(self) -> int:
        """Pixels by which the picture is scrolled to the left."""
        return self.panel.locator(".gradaccum-scrolls .widget-html-content").evaluate("box => box.scrollLeft")

    def scroll_to_the_right(self) -> int:
        """Scroll as far as the picture is wider than its place; how far that is."""
        self.panel.locator(".gradaccum-scrolls .widget-html-content").evaluate("box => box.scrollLeft = box.scrollWidth")
        return self.scrolled

    @property
    def caption(self) -> Locator:
        return self.panel.locator("[aria-live]")

    def press(self, button: str, key: str) -> None:
        """Give a button the focus and press a key."""
        self.panel.get_by_role("button", name=button, exact=True).press(key)

    def wait_for_other_picture(self, alt: str) -> None:
        """Until the picture's alternative text is no longer ``alt``."""
        expect(self.picture).not_to_have_attribute("aria-label", alt)

    def wait_for_picture(self, alt: str) -> None:
        """Until the picture's alternative text is ``alt``."""
        expect(self.picture).to_have_attribute("aria-label", alt)


def key_for(control: Locator) -> str:
    """The key that changes a control from where it is."""
    kind, at_end = control.evaluate(
        "box => box.matches('.noUi-handle') ? ['number', +box.ariaValueNow >= +box.ariaValueMax] : "
        "[box.type, 'max' in box && box.max ? +box.value >= +box.max : box.selectedIndex === box.options?.length - 1]"
    )
    if kind == "checkbox":
        return "Space"
    if kind in ("number", "range"):
        return "ArrowDown" if at_end else "ArrowUp"
    return "ArrowUp" if at_end else "ArrowDown"
