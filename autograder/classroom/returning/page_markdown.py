"""Markdown for pages that stand alone: formulas as MathML, for which nothing is loaded, and links that lead somewhere."""

from __future__ import annotations

import re
from html import escape
from urllib.parse import urlsplit
from xml.etree import ElementTree

from jinja2 import pass_context
from jinja2.runtime import Context
from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

MAX_FORMULA = 2000
"""Characters of a formula that is converted. Those of the course have up to 200; a longer one is shown as it was written."""

ELEMENTS = re.compile(
    r"\{http://www\.w3\.org/1998/Math/MathML\}"
    "(math|mrow|mi|mn|mo|ms|mtext|mspace|mfrac|msqrt|mroot|msub|msup|msubsup|munder|mover|munderover|mmultiscripts"
    "|mtable|mtr|mtd|mstyle|mpadded|mphantom|menclose)"
)
"""Elements of formulas. None of them loads or runs anything."""

ATTRIBUTES = re.compile(
    "accent|accentunder|columnalign|columnlines|columnspacing|depth|display|displaystyle|fence|form|height|largeop|linethickness"
    "|lspace|mathcolor|mathsize|mathvariant|maxsize|minsize|movablelimits|notation|rowlines|rowspacing|rspace|scriptlevel"
    "|separator|stretchy|symmetric|width"
)
"""Their attributes. A link, a style or a handler of events is not among them."""

PRIMES = "′", "″", "‴"


class _PageRenderer(IPythonRenderer):
    def link(self, text: str, url: str, title: str | None = None) -> str:
        """A link; of one to a file of the course, which is not where the page is, the text."""
        return str(super().link(text, url, title)) if url.startswith("#") or urlsplit(url).scheme else text

    def inline_math(self, body: str) -> str:
        return mathml(body, "inline")

    def block_math(self, body: str) -> str:
        return mathml(body, "block")


def mathml(formula: str, display: str) -> str:
    """A formula in LaTeX as MathML; as it was written if it cannot be converted, or would become more than a formula.

    The converter does not escape what it is given, and students write formulas, too, so its answer is read and written again.
    """
    written = f"<code>{escape(formula)}</code>"
    if len(formula) > MAX_FORMULA:
        return written
    try:
        tree = ElementTree.fromstring(convert(formula.strip(), display=display))
    except Exception:  # what the converter raises for wrong formulas is not documented
        return written
    for node in tree.iter():
        known = ELEMENTS.fullmatch(node.tag)
        if known is None or not all(map(ATTRIBUTES.fullmatch, node.attrib)):
            return written
        node.tag = known[1]
    for power in list(tree.iter("msup")):
        _set_primes_in_full_size(power)
    return ElementTree.tostring(tree, encoding="unicode")


def _set_primes_in_full_size(power: ElementTree.Element) -> None:
    """Let a prime stand beside what it marks: text fonts have it raised already, and as an exponent it is too small to see."""
    if len(power) == 2 and power[1].text in PRIMES:
        power.tag, power[1].tag = "mrow", "mo"


@pass_context
def markdown_with_mathml(context: Context, source: str) -> str:
    """Markdown as HTML, its formulas as MathML: a filter for nbconvert's templates in place of ``markdown2html``."""
    return markdown_html(source, context.get("cell", {}).get("attachments", {}))


def markdown_html(source: str, attachments: dict[str, dict[str, str]] | None = None) -> str:
    """Markdown as HTML, its formulas as MathML.

    Args:
        source: written by somebody who may write HTML.
        attachments: pictures of the cell in which it stands.
    """
    renderer = _PageRenderer(escape=False, attachments=attachments, anchor_link_text="¶")
    return str(MarkdownWithMath(renderer=renderer).render(source))
