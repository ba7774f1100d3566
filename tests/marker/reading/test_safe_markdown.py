"""A student's text stays readable and cannot run anything in its reader's browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from nbconvert.filters import markdown2html

from autograder.reading.safe_markdown import safe_attachments, safe_markdown

SCRIPTS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<IMG\nSRC=x onerror=alert(1)>",
    "<!-- --><svg/onload=alert(1)>",
    "<?php <script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](<java\tscript:alert(1)>)",
    "[x](javascript\\:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](java&#x73;cript&colon;alert(1))",
    "[x](java&Tab;script:alert(1))",
    "[x](&amp;#106;avascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "[x]: javascript:alert(1)\n\n[x]",
    "<javascript:alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "`<script>`\n<script>alert(1)</script>",
    "$\\href{javascript:alert(1)}{x}$",
    "<details open ontoggle=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]


class Browser(HTMLParser):
    """Collects what a browser would run, or might run."""

    def __init__(self):
        super().__init__()
        self.risks: list[str] = []

    def handle_starttag(self, tag, attributes):
        if tag not in ("p", "a", "img", "code", "pre", "em", "strong", "blockquote", "br", "div", "span"):
            self.risks.append(tag)
        for name, value in attributes:
            address = re.sub(r"[\x00-\x20]", "", value or "").lower()
            if name.startswith("on") or re.match(r"(java|vb)script:|data:(?!image/(png|jpeg|gif|webp))", address):
                self.risks.append(f"{name}={value}")


def risks(markdown: str) -> list[str]:
    """The risks in a text as nbconvert shows it, and so formgrader and feedback pages."""
    browser = Browser()
    browser.feed(markdown2html(markdown))
    return browser.risks


@pytest.mark.parametrize("text", SCRIPTS)
def test_safe_markdown_has_nothing_that_a_browser_runs(text):
    assert risks(safe_markdown(text)) == []


def test_at_least_ten_of_the_scripts_would_run_if_left_as_they_are():
    assert sum(bool(risks(text)) for text in SCRIPTS) >= 10


@pytest.mark.parametrize(
    "text",
    [
        "# Heading\n\n1 < 2 and `a <= b` and $x<0$ & more; R&D, &lt;p&gt;, Q&A",
        "The data: see [the docs](https://pytorch.org/docs?a=1&b=2).",
        "![a picture](data:image/png;base64,iVBORw0KGgo=) ![b](attachment:b.png)",
        "In JavaScript, scripts run. Java: coffee.",
    ],
)
def test_ordinary_markdown_is_unchanged(text):
    assert safe_markdown(text) == text


def test_only_attachments_that_are_pictures_are_kept():
    pixel = "iVBORw0KGgo="
    attachments = {
        "a.png": {"image/png": pixel, "text/html": "<script>"},
        "b.svg": {"image/svg+xml": "<svg onload=alert(1)>"},
        "c.png": {"image/png": '" onerror="alert(1)'},
        "d.png": {"image/png": ["list"]},
        "e.png": "text",
        "f\n.png": {"image/png": pixel},
    }
    assert safe_attachments(attachments) == {"a.png": {"image/png": pixel}}
