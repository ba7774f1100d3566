"""The part of a long run's matrices that a report shows."""

from __future__ import annotations

from gradaccum.fingerprint import Fingerprint
from gradaccum.watching.matrices import same

MAX_UPDATES, MAX_MICRO_BATCHES = 12, 40
"""Rows and columns that are shown."""


def excerpt(found: Fingerprint, due: Fingerprint) -> tuple[Fingerprint, Fingerprint, str]:
    """The first updates of both, or those around the first that is not due; and a sentence that says which, if not all."""
    updates, columns = found.coefficients.shape
    if updates <= MAX_UPDATES and columns <= MAX_MICRO_BATCHES:
        return found, due, ""
    rows = range(updates)
    wrong = next((u for u in rows if not same(found.coefficients[u : u + 1], due.coefficients[u : u + 1])), 0)
    first = 0 if wrong < MAX_UPDATES else wrong - 1
    windows = [row.nonzero()[:, 0].tolist() or [0] for row in due.coefficients[first : first + MAX_UPDATES]]
    left = windows[0][0]
    fitting = sum(window[-1] < left + MAX_MICRO_BATCHES for window in windows)
    last = first + max(1, fitting)
    right = min(columns, left + MAX_MICRO_BATCHES, max(window[-1] for window in windows[: max(1, fitting)]) + 1)
    said = f"This shows {_span('update', first, last)} of {updates} and {_span('micro-batch', left, right)} of {columns}."
    shown = [one.part(slice(first, last), slice(left, right)) for one in (found, due)]
    return shown[0], shown[1], said


def _span(word: str, start: int, end: int) -> str:
    many = "micro-batches" if word == "micro-batch" else f"{word}s"
    return f"{word} {end}" if end - start == 1 else f"{many} {start + 1} to {end}"
