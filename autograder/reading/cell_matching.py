"""Which cell of the released notebook a student's cell is, and which functions it answers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from autograder.reading.notebook_json import WrittenCell
from autograder.reading.parsed_cell import ParsedCell
from autograder.reading.python_source import Definition, statements
from autograder.reading.template import Template


@dataclass(frozen=True)
class MatchedCell:
    """A student's cell and how it relates to the template.

    Attributes:
        number: its index in the student's order.
        cell: its content.
        slot: the slot that it has or had in the template; None if it is not one of the template's cells.
        released: whether its text was released and is not the student's.
        answers: exercises that it defines.
        stubs: where it repeats the stub of an exercise that it does not answer.
    """

    number: int
    cell: WrittenCell
    slot: int | None
    released: bool
    answers: frozenset[str] = frozenset()
    stubs: tuple[Definition, ...] = ()


def matched_cells(cells: Sequence[ParsedCell], template: Template) -> list[MatchedCell]:
    """Every cell of a submission, in the student's order, without stubs that would undo an answer."""
    return _without_idle_stubs([_match(number, cell, template) for number, cell in enumerate(cells)])


def _match(number: int, cell: ParsedCell, template: Template) -> MatchedCell:
    slot, released = template.slot_of(cell), template.is_released(cell)
    if cell.kind != "code" or released:
        return MatchedCell(number, cell.written, slot, released)
    definitions = cell.python.definitions(template.exercises)
    answers = frozenset(definition.name for definition in definitions if not definition.stub)
    lines_of_answers = {definition.lines for definition in definitions if definition.name in answers}
    stubs = tuple(d for d in definitions if d.name not in answers and d.lines not in lines_of_answers)
    if names := answers or {stub.name for stub in stubs}:
        slot = min(template.exercises[name] for name in names)
    return MatchedCell(number, cell.written, slot, released, answers, stubs)


def _without_idle_stubs(matched: Sequence[MatchedCell]) -> list[MatchedCell]:
    """The cells without stubs of functions that another cell answers: run after that cell, they would undo the answer."""
    answered = {name for match in matched for name in match.answers}
    kept = []
    for match in matched:
        idle = [stub.lines for stub in match.stubs if stub.name in answered and stub.lines]
        if idle:
            text = _without_lines(match.cell.source, idle)
            if next(statements(text), None) is None:
                continue
            match = replace(match, cell=replace(match.cell, source=text))
        kept.append(match)
    return kept


def _without_lines(text: str, ranges: Collection[tuple[int, int]]) -> str:
    """A text in which these ranges of lines, counted from 1, are blank, so that all other lines keep their numbers."""
    removed = {line for first, last in ranges for line in range(first, last + 1)}
    return "\n".join("" if number in removed else line for number, line in enumerate(text.split("\n"), 1))
