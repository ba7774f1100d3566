"""What the updates of real trainers held: the recorded runs that ``docs/trainers.md`` and an explorable are made of.

``make trainers`` writes them, one file for each library, release and script.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded"
"""A folder for each release of a library, and in it a file for each script."""

MAX_COLUMNS = 20
"""Micro-batches of a run that fits into a picture."""


@dataclass(frozen=True)
class Release:
    """A release of a library, and what was seen of a trainer in it."""

    library: str
    version: str
    seen: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.library} {self.version}"

    @property
    def matrix(self) -> Mapping[str, Any]:
        """The main matrix: ``found``, ``due``, and the ``counts`` of its micro-batches."""
        return self.seen["matrices"][0]

    def beginning(self, updates: int) -> dict[str, Any]:
        """What the first updates held: ``found``, and the ``tokens`` and ``accumulation_steps`` of their micro-batches."""
        rows = self.matrix["due"][:updates]
        width = 1 + max(k for row in rows for k, share in enumerate(row) if share)
        return {
            "found": [row[:width] for row in self.matrix["found"][:updates]],
            "tokens": [int(count) for count in self.matrix["counts"][:width]],
            "accumulation_steps": self.seen["accumulation_steps"],
        }


def has_shares(seen: Mapping[str, Any]) -> bool:
    """Whether there is a matrix, and it says something: with cached features it does not."""
    named = {mistake["slug"] for mistake in seen["mistakes"]}
    return bool(seen["matrices"] and seen["matrices"][0]["found"]) and "outside-of-cache" not in named


@cache
def releases() -> Mapping[str, tuple[Release, ...]]:
    """For each trainer the releases it was watched in, oldest first; without runs that have no shares or are long."""
    found: dict[str, list[Release]] = {}
    for file in sorted(RECORDED.glob("*/*.json")):
        library, _, version = file.parent.name.rpartition("-")
        release = Release(library, version, json.loads(file.read_text()))
        if has_shares(release.seen) and len(release.matrix["counts"]) <= MAX_COLUMNS:
            found.setdefault(file.stem.replace("_", " "), []).append(release)
    return {name: tuple(sorted(found[name], key=_age)) for name in sorted(found)}


def _age(release: Release) -> tuple[int, ...]:
    return tuple(map(int, release.version.split(".")))
