"""Formulas as MathML, which a browser shows without loading anything from anywhere."""

from __future__ import annotations

from html import escape

from jinja2 import pass_context
from jinja2.runtime import Context
from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

MAX_FORMULA = 2000
"""Characters of a formula that is converted. Those of the course have up to 200; a longer one is shown as it was written."""


class _MathMLRenderer(IPythonRenderer):
    def inline_math(self, body: str) -> str:
        return mathml(body, "inline")

    def block_math(self, body: str) -> str:
        return mathml(body, "block")


def mathml(formula: str, display: str) -> str:
    """A formula in LaTeX as MathML, or as it was written if it cannot be converted. A link in it is not made one."""
    written = f"<code>{escape(formula)}</code>"
    if len(formula) > MAX_FORMULA or "\\href" in formula:
        return written
    try:
        return convert(formula.strip(), display=display)
    except Exception:  # students write formulas, too, and what the converter raises for wrong ones is not documented
        return written


@pass_context
def markdown_with_mathml(context: Context, source: str) -> str:
    """Markdown as HTML, its formulas as MathML: a filter for nbconvert's templates in place of ``markdown2html``."""
    attachments = context.get("cell", {}).get("attachments", {})
    renderer = _MathMLRenderer(escape=False, attachments=attachments, anchor_link_text="¶")
    return str(MarkdownWithMath(renderer=renderer).render(source))
