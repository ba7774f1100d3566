"""A cell of a submission together with the meaning of its text as Python."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from autograder.reading.notebook_json import WrittenCell
from autograder.reading.python_source import PythonSource


@dataclass(frozen=True)
class ParsedCell:
    """A cell as it was handed in, or what was made of it, and its text as Python."""

    written: WrittenCell
    python: PythonSource

    @classmethod
    def of(cls, written: WrittenCell, names: Collection[str]) -> ParsedCell:
        """The cell, with a text in which definitions of these names can be looked for."""
        return cls(written, PythonSource(written.source, names))

    @property
    def kind(self) -> str:
        return self.written.kind

    @property
    def text(self) -> str:
        return self.python.text

    def as_code(self) -> ParsedCell:
        """The same text as a code cell."""
        return replace(self, written=replace(self.written, kind="code"))

    def with_python(self, python: PythonSource) -> ParsedCell:
        """The same cell with another text."""
        return ParsedCell(replace(self.written, source=python.text), python)


def joined(parts: Sequence[ParsedCell]) -> ParsedCell:
    """Cells in one: their texts below each other, named by all their places, with the first grade_id that one of them has."""
    first, *others = [part.written for part in parts]
    place = " and ".join([first.place, *(other.place.removeprefix("code cell ") for other in others)])
    grade_id = next((part.written.grade_id for part in parts if part.written.grade_id), "")
    text = "\n".join(part.text for part in parts)
    return ParsedCell(
        replace(first, source=text, place=place, grade_id=grade_id),
        parts[0].python.with_text(text),
    )
