"""A verdict as HTML for a notebook and as plain text for everything else."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from gradaccum.fingerprint_tables import fingerprint_tables
from gradaccum.theme import GREEN, GREY, VERMILLION, card, paragraph, side_by_side, slug_html, text_color

if TYPE_CHECKING:
    from autograder.contract.verdict import Verdict


def mimebundle(verdict: Verdict) -> dict[str, str]:
    """What a notebook shows, by media type. In a kernel the text is the bare score, if there is one, which nbgrader reads."""
    bare = _in_kernel() and verdict.score is not None
    return {"text/html": as_html(verdict), "text/plain": str(verdict.score) if bare else as_text(verdict)}


def as_text(verdict: Verdict) -> str:
    """The verdict in plain text."""
    if verdict.fault:
        return f"{_headline(verdict)}\n{verdict.fault}"
    lines = [_headline(verdict)]
    for result in verdict.results:
        mark = "✓" if result.passed else "✗"
        reason = "" if result.passed or verdict.failure_everywhere else f" — {result.message}"
        lines.append(f"  {mark} {result.points:g}/{result.part.points:g}  {result.part.title}{reason}")
    if verdict.failure and verdict.failure_everywhere:
        lines.append(verdict.failure.message)
    if verdict.mistakes:
        lines.append(_behaves_like(verdict))
    for mistake in verdict.mistakes:
        lines += [f"{mistake.slug}: {mistake.message}", f"  Hint: {mistake.hint}"]
    if verdict.remark:
        lines.append(verdict.remark)
    if verdict.expected is not None and verdict.found is not None:
        lines += ["Fingerprint expected:", verdict.expected.as_text(), "Fingerprint found:", verdict.found.as_text()]
    return "\n".join(lines)


ELSEWHERE = (
    "If you have written it in another cell, run that cell again: the untouched cell ran after it and replaced your function. "
    "In the file that you hand in, an answer counts in any cell."
)


def as_html(verdict: Verdict, handed_in: bool = False) -> str:
    """The verdict as self-contained HTML: inline styles only, no script, readable without colour and on pages of any theme.

    Args:
        verdict: to show.
        handed_in: whether it is the last word on a file, and not one on a notebook that a student is working on.
    """
    if verdict.fault:
        return card(_color(verdict), _headline(verdict), [paragraph(escape(str(verdict.fault)))])
    parts = []
    stub = verdict.failure is not None and verdict.failure.kind == "unwritten"
    if verdict.failure and verdict.failure_everywhere and not stub:
        parts.append(paragraph(escape(verdict.failure.message)))
    if stub and not handed_in:
        parts.append(paragraph(ELSEWHERE))
    if verdict.mistakes:
        parts.append(paragraph(_behaves_like(verdict)))
    for k, mistake in enumerate(verdict.mistakes):
        parts.append(paragraph(f"{slug_html(mistake.slug)} {escape(mistake.message)}"))
        if k == 0:
            parts.append(paragraph(f"<b>Hint.</b> {escape(mistake.hint)}"))
    if verdict.remark:
        parts.append(paragraph(escape(verdict.remark)))
    if verdict.expected is not None and verdict.found is not None:
        parts.append(side_by_side(fingerprint_tables(verdict.expected, verdict.found)))
    parts.append(_parts_list(verdict))
    return card(_color(verdict), _headline(verdict, handed_in), parts)


def _behaves_like(verdict: Verdict) -> str:
    """What the names below it mean: the marker sees what code does, not how it does it."""
    return f"Your code behaves like code with {'this mistake' if len(verdict.mistakes) == 1 else 'these mistakes'}:"


def _color(verdict: Verdict) -> str:
    if _is_unwritten(verdict) or verdict.fault:
        return GREY
    return GREEN if verdict.passed else VERMILLION


def _is_unwritten(verdict: Verdict) -> bool:
    """Whether the student has not begun yet, which is not a mistake."""
    return verdict.failure is not None and verdict.failure.kind in ("unwritten", "absent")


def _headline(verdict: Verdict, handed_in: bool = False) -> str:
    if verdict.score is None:
        return f"{verdict.exercise}: unmarked, {verdict.max_score:g} points"
    state = "right" if verdict.passed else "not there yet"
    if handed_in and not verdict.passed:
        state = "partly right" if verdict.score else "not right"
    if verdict.failure and _is_unwritten(verdict):
        state = "not written" if handed_in else "not written yet"
        state = "not in the file" if verdict.failure.kind == "absent" else state
    return f"{verdict.exercise}: {verdict.score:g} of {verdict.max_score:g} points, {state}"


def _parts_list(verdict: Verdict) -> str:
    lines = []
    for result in verdict.results:
        sign, color = ("✓", GREEN) if result.passed else ("✗", VERMILLION)
        if _is_unwritten(verdict):
            sign, color = "○", GREY
        points = f'<span style="flex:none;min-width:4.2em;margin-right:.4em">{result.points:g}/{result.part.points:g}</span>'
        message = "" if result.passed or verdict.failure_everywhere else f": {escape(result.message)}"
        sign = f'<span style="flex:none;width:1.3em;color:{text_color(color)}">{sign}</span>'
        text = f"<span>{escape(result.part.title)}{message}</span>"  # next to the points, even if it takes several lines
        lines.append(f'<li style="margin:0;display:flex">{sign}{points}{text}</li>')
    return f'<ul style="list-style:none;margin:6px 0 2px;padding:0">{"".join(lines)}</ul>'


def _in_kernel() -> bool:
    """Whether this runs in a Jupyter kernel, where the front end shows the HTML."""
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
