"""How a verdict looks: HTML for a notebook, plain text elsewhere."""

from __future__ import annotations

from html import escape

from autograder.exercise import Verdict
from gradaccum.fingerprint import Fingerprint, as_fraction

BLUE, VERMILLION, GREEN = "#0072B2", "#B54700", "#00735C"
"""Okabe-Ito blue, vermillion and green, the latter two darkened until text in them has a contrast of 4.5 on white."""


def mimebundle(verdict: Verdict) -> dict[str, str]:
    """What a notebook shows. nbgrader reads partial credit from ``text/plain``, so in a kernel that is the bare score."""
    return {"text/html": as_html(verdict), "text/plain": str(verdict.score) if _in_kernel() else as_text(verdict)}


def as_text(verdict: Verdict) -> str:
    """The verdict in plain text."""
    lines = [f"{_headline(verdict)}"]
    for result in verdict.results:
        mark = "✓" if result.passed else "✗"
        reason = "" if result.passed or verdict.failure_everywhere else f" — {result.message}"
        lines.append(f"  {mark} {result.points:g}/{result.part.points:g}  {result.part.title}{reason}")
    if verdict.failure_everywhere:
        lines.append(verdict.failure.message)
    for mistake in verdict.mistakes:
        lines += [f"{mistake.slug}: {mistake.message}", f"  Hint: {mistake.hint}"]
    if verdict.remark:
        lines.append(verdict.remark)
    if verdict.found is not None:
        lines += ["Fingerprint expected:", verdict.expected.as_text(), "Fingerprint found:", verdict.found.as_text()]
    return "\n".join(lines)


def as_html(verdict: Verdict) -> str:
    """The verdict as self-contained HTML: inline styles only, no script, readable without colour."""
    color = GREEN if verdict.passed else VERMILLION
    parts = [
        f'<div style="font-weight:600;font-size:15px;color:{color}">{escape(_headline(verdict))}</div>',
        _parts_table(verdict),
    ]
    if verdict.failure_everywhere:
        parts.append(_paragraph(escape(verdict.failure.message)))
    for k, mistake in enumerate(verdict.mistakes):
        said = f'<code style="color:{VERMILLION}">{escape(mistake.slug)}</code> {escape(mistake.message)}'
        parts.append(_paragraph(said))
        if k == 0:
            parts.append(_paragraph(f"<b>Hint.</b> {escape(mistake.hint)}"))
    if verdict.remark:
        parts.append(_paragraph(escape(verdict.remark)))
    if verdict.found is not None:
        tables = (
            fingerprint_table(verdict.expected, "A right loop's fingerprint"),
            fingerprint_table(verdict.found, "Your loop's fingerprint", verdict.expected),
        )
        parts.append(f'<div style="display:flex;flex-wrap:wrap;gap:8px 32px;margin-top:8px">{"".join(tables)}</div>')
    body = "".join(parts)
    return f'<div style="border-left:4px solid {color};padding:4px 12px;max-width:1100px;font-family:sans-serif">{body}</div>'


def fingerprint_table(fingerprint: Fingerprint, title: str, due: Fingerprint | None = None) -> str:
    """A fingerprint as an HTML table; cells that differ from ``due`` are framed."""
    if not len(fingerprint.coefficients):
        return f"<div>{_caption(title)}<div>no update at all</div></div>"
    stale = fingerprint.stale is not None and bool((fingerprint.stale.abs() > 1e-4).any())
    heads = (["before"] if stale else []) + [str(k + 1) for k in range(len(fingerprint.columns))]
    starts = [k for k, (a, b) in enumerate(zip(fingerprint.columns, fingerprint.columns[1:], strict=False)) if a[0] != b[0]]
    head = "".join(f'<th scope="col" style="{_CELL}font-weight:400;color:#555">{h}</th>' for h in heads)
    rows = [f'<tr><th scope="row" style="{_CELL}text-align:right;font-weight:400;color:#555">update</th>{head}</tr>']
    peak = max(1e-9, float(fingerprint.coefficients.abs().max()))
    for u, row in enumerate(fingerprint.coefficients.tolist()):
        cells = [_cell(fingerprint.stale[u].item(), peak, True, False)] if stale else []
        for k, value in enumerate(row):
            differs = due is not None and abs(value - _due(due, u, k)) > 1e-4
            cells.append(_cell(value, peak, differs, k in starts))
        rows.append(
            f'<tr><th scope="row" style="{_CELL}text-align:right;font-weight:400;color:#555">{u + 1}</th>{"".join(cells)}</tr>'
        )
    style = "border-collapse:collapse;font-size:11px;margin:0"
    return f'<div>{_caption(title)}<table style="{style}"><tbody>{"".join(rows)}</tbody></table></div>'


_CELL = "padding:1px 2px;min-width:17px;text-align:center;background:none;border:none;line-height:16px;"


def _due(due: Fingerprint, u: int, k: int) -> float:
    return float(due.coefficients[u, k]) if u < len(due.coefficients) else 0.0


def _cell(value: float, peak: float, differs: bool, ends_epoch: bool) -> str:
    text = as_fraction(value)
    share = min(1.0, abs(value) / peak)
    shade = f"rgba(0,114,178,{0.12 + 0.5 * share:.2f})" if text else "#f4f4f4"
    frame = f"outline:2px solid {VERMILLION};outline-offset:-2px;" if differs else ""
    edge = "border-right:3px solid #fff;" if not ends_epoch else "border-right:10px solid #fff;"
    weight = "font-weight:700;" if differs else ""
    style = f"padding:1px 3px;min-width:17px;text-align:center;line-height:16px;color:#111;background:{shade};border:none;"
    return f'<td style="{style}border-bottom:3px solid #fff;{edge}{frame}{weight}">{text or "·"}</td>'


def _caption(title: str) -> str:
    return f'<div style="font-size:12px;font-weight:600;margin-bottom:2px">{escape(title)}</div>'


def _paragraph(html: str) -> str:
    return f'<p style="margin:6px 0;max-width:75ch">{html}</p>'


def _headline(verdict: Verdict) -> str:
    said = "right" if verdict.passed else "not there yet"
    if verdict.failure and verdict.failure.kind == "unwritten":
        said = "not written yet"
    return f"{verdict.exercise}: {verdict.score:g} of {verdict.max_score:g} points, {said}"


def _parts_table(verdict: Verdict) -> str:
    rows = []
    for result in verdict.results:
        mark = f'<span style="color:{GREEN}">✓</span>' if result.passed else f'<span style="color:{VERMILLION}">✗</span>'
        reason = "" if result.passed or verdict.failure_everywhere else f": {escape(result.message)}"
        rows.append(f"<li>{mark} {result.points:g}/{result.part.points:g} {escape(result.part.title)}{reason}</li>")
    return f'<ul style="list-style:none;margin:4px 0;padding:0">{"".join(rows)}</ul>'


def _in_kernel() -> bool:
    """Whether this runs in a Jupyter kernel, where the front end shows the HTML."""
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
