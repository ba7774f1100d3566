"""A piece of code to run: what reading a file yields."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """Code that stands together, how to name it to the student, and which cell of the submission's notebook it is."""

    name: str
    source: str
    id: str = ""
