"""Undo what happened to code: text becomes code again, split code is joined, conflicts and indentation are fixed."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.reading.parsed_cell import ParsedCell, joined
from autograder.reading.salvage import conflict_sides
from autograder.reading.template import Template

MAX_PARTS = 4
"""Cells that a function may have been split into."""

MAX_BROKEN_CELLS = 100
"""A student's cells that are not Python, in a notebook whose split code is joined. If there are more, trying to join them
takes too long, and splitting is not what broke them."""


def repaired_cells(cells: Sequence[ParsedCell], template: Template) -> list[ParsedCell]:
    """The cells of a submission, in the student's order, with their code as the student meant it."""
    cells = [_without_conflicts(cell.as_code() if _was_code(cell, template) else cell) for cell in cells]
    return [_with_fixed_indentation(cell, template) for cell in _without_splits(cells, template)]


def _was_code(cell: ParsedCell, template: Template) -> bool:
    """Whether a text cell is Python and stands in the solution cell of an exercise or defines one."""
    if cell.kind == "code":
        return False
    if template.is_exercise(template.grade_ids.get(cell.written.grade_id)):
        return cell.python.is_python
    if template.has_text(cell):  # known without parsing; most text cells are released prose
        return template.is_exercise(template.slot_of(cell))
    return cell.python.is_python and bool(cell.python.definitions(template.exercises))


def _without_conflicts(cell: ParsedCell) -> ParsedCell:
    """A code cell without the marks of merge conflicts: with the student's own side, unless only the other one is Python."""
    if cell.kind != "code" or "<<<<<<<" not in cell.text or not (sides := conflict_sides(cell.text)):
        return cell
    choices = [cell.python.with_text(side) for side in sides]
    return cell.with_python(next((choice for choice in choices if choice.is_python), choices[0]))


def _with_fixed_indentation(cell: ParsedCell, template: Template) -> ParsedCell:
    if cell.kind != "code" or template.has_text(cell) or cell.python.is_python:
        return cell
    return cell.with_python(cell.python.with_fixed_indentation)


def _without_splits(cells: Sequence[ParsedCell], template: Template) -> list[ParsedCell]:
    """The cells with code that was split in the middle of a statement in one piece again, where its first part stood."""
    own = [cell.kind == "code" and not template.is_released(cell) for cell in cells]
    broken = [is_own and not cell.python.is_python for is_own, cell in zip(own, cells, strict=True)]
    if sum(broken) > MAX_BROKEN_CELLS:
        return list(cells)
    whole: list[ParsedCell] = []
    recent: list[int] = []  # where in `whole` the student's latest code cells stand
    for cell, is_own, is_broken in zip(cells, own, broken, strict=True):
        join = _join_with_end([whole[k] for k in recent], cell, template) if is_broken else None
        if join:
            start, whole_cell = join
            first, *others = recent[start:]
            whole[first] = whole_cell
            whole = [kept for k, kept in enumerate(whole) if k not in others]
            recent = recent[: start + 1]
        else:
            recent = [*recent, len(whole)] if is_own else recent
            whole.append(cell)
        recent = recent[1 - MAX_PARTS :]
    return whole


def _join_with_end(before: Sequence[ParsedCell], end: ParsedCell, template: Template) -> tuple[int, ParsedCell] | None:
    """The index of the cell that holds the beginning of what ends in ``end``, and all from there in one cell; or None."""
    if end.python.with_fixed_indentation.definitions(template.exercises):
        return None
    joins = ((start, joined([*before[start:], end])) for start in reversed(range(len(before))))
    return next(((start, cell) for start, cell in joins if cell.python.is_python), None)
