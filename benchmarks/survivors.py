"""Why mutants that get full marks are right: ``survivors.toml`` in a unit's folder.

    [[right]]
    reason = "What a repaired loop returns is ignored."
    mutants = ["repaired_*/*: *losses.append*"]

Each entry of ``mutants`` is a pattern for the mutants' keys, as for file names; ``[`` stands for itself.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Explanation:
    """Why the mutants whose keys match one of the patterns are right."""

    reason: str
    mutants: tuple[str, ...]

    def explains(self, key: str) -> bool:
        """Whether one of the patterns is that of a mutant."""
        return any(matches(key, pattern) for pattern in self.mutants)


def matches(key: str, pattern: str) -> bool:
    """Whether a mutant's key is as a pattern says."""
    return fnmatchcase(key, pattern.replace("[", "[[]"))


@cache
def explanations_of(unit: str) -> tuple[Explanation, ...]:
    """The explanations in a unit's folder; none if it has no such file."""
    path = ROOT / "autograder" / "exercises" / f"unit_{unit}" / "survivors.toml"
    if not path.exists():
        return ()
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["right"]
    return tuple(Explanation(entry["reason"], tuple(entry["mutants"])) for entry in entries)
