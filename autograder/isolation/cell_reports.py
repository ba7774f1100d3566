"""Reports on how running each cell of a submission went, for people to read."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import astuple, dataclass

MAX_PRINTED = 4000
"""Characters kept of what a cell prints."""


@dataclass(frozen=True)
class CellReport:
    """How running a cell went: what it printed and what went wrong, for people to read."""

    cell: str
    printed: str
    trouble: str

    @staticmethod
    def encode(reports: Collection[CellReport]) -> bytes:
        return json.dumps([astuple(report) for report in reports]).encode()

    @staticmethod
    def decode(data: bytes) -> list[CellReport]:
        """The reports in what :meth:`encode` made; none if it is anything else, since it may be forged."""
        try:
            content = json.loads(data)
        except (ValueError, RecursionError):
            return []
        if not isinstance(content, list):
            return []
        valid = [e for e in content if isinstance(e, list) and len(e) == 3 and all(isinstance(text, str) for text in e)]
        return [CellReport(*(text.encode(errors="replace").decode()[: 2 * MAX_PRINTED] for text in e)) for e in valid]
