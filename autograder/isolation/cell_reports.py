"""Reports on how running each cell of a submission went, for people to read."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import astuple, dataclass

from autograder.support.one_line import one_line, several_lines

MAX_PRINTED = 4000
"""Characters kept of what a cell prints."""

MAX_NAME = 200
"""Characters of the name of a cell, which may be that of a file."""


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
        return [
            CellReport(one_line(cell, MAX_NAME), *(several_lines(text, MAX_PRINTED) for text in texts))
            for cell, *texts in valid
        ]
