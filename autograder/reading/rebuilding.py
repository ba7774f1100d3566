"""What a student wrote, put back into the notebook that was released, so that damage to the rest of it costs no marks.

The released notebook gives the cells, their order and their metadata. A submission gives the functions, wherever they stand
and whatever their cells are called now, and everything else that the student added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from autograder.contract.cell import Cell
from autograder.reading.cell_matching import MatchedCell
from autograder.reading.notebook_json import WrittenCell
from autograder.reading.safe_markdown import safe_attachments, safe_markdown
from autograder.reading.template import Template

if TYPE_CHECKING:
    from nbformat import NotebookNode


_NOT_THERE = "# {} is not in the file."


@dataclass(frozen=True)
class RebuiltNotebook:
    """The released notebook with what a student wrote.

    Attributes:
        content: a valid notebook of format 4, as plain data.
        names: how to name its code cells to the student, by id.
        given: the ids of those that are unchanged and not for the student to fill in.
        absent: exercises for which the student's file has no cell.
    """

    content: dict[str, Any]
    names: dict[str, str]
    given: frozenset[str]
    absent: frozenset[str] = frozenset()

    def code(self) -> tuple[Cell, ...]:
        """The code to run, in order; without the checks, since marking observes the functions itself."""
        code = [cell for cell in self.content["cells"] if cell["cell_type"] == "code" and not _is_graded_check(cell)]
        return tuple(
            Cell(self.names[name], cell["source"], name, name in self.given)
            for cell in code
            if cell["source"].strip() and (name := cell["id"])
        )


def rebuilt_notebook(template: Template, matched: Sequence[MatchedCell], damage: str = "") -> RebuiltNotebook:
    """The released notebook with what the student wrote.

    Cells, their order, ids and metadata are the template's; its given cells and its checks are as released. A solution cell
    holds what the student wrote for its function: the last cell that defines it and is not the unchanged stub, whatever that
    cell is called; older versions stand before it. Where the file has no cell for it, the solution cell says so. Cells that
    define nothing are recognised by ``grade_id`` or id. What matches nothing is kept as an ordinary cell after the cell that it
    followed; students' Markdown is made safe to show.
    If the file was damaged, the first cell tells its reader, and the metadata says so, too.
    """
    layout = _layout(template, matched)
    seen = {match.slot: match.cell.place for match in reversed(matched) if match.released and match.cell.kind == "code"}
    answered = {template.exercises[name]: (name, match.cell.place) for match in matched for name in match.answers}
    absent = _absent(template, matched)
    ids = (name for k in count(1) if (name := f"student-{k}") not in template.ids)
    cells: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    given: set[str] = set()

    def put(cell: dict[str, Any], name: str) -> None:
        cells.append(cell)
        if cell["cell_type"] == "code":
            names[cell["id"]] = name

    def put_all(matches: Sequence[MatchedCell]) -> None:
        for match in matches:
            put(_extra_cell(match.cell, next(ids)), match.cell.place)

    if damage:
        note = f"**The file that you handed in {damage}.** These were marked. Hand in a whole copy if you still have one."
        cells.append({"id": next(ids), "metadata": {}, "cell_type": "markdown", "source": note})
    put_all(layout.after.get(-1, ()))
    for slot, cell in enumerate(template.cells):
        put_all(layout.before.get(slot, ()))
        if slot in layout.inside:
            put(_filled_cell(cell, layout.inside[slot].cell), layout.inside[slot].cell.place)
        elif slot in answered:
            put(cell | {"source": "# {} stands in {}.".format(*answered[slot])}, _released_name(cell))
        elif slot in absent:
            put(cell | {"source": _NOT_THERE.format(absent[slot])}, _released_name(cell))
        else:
            put(cell, seen.get(slot, _released_name(cell)))
            if not cell["metadata"].get("nbgrader", {}).get("solution"):
                given.add(cell["id"])
        put_all(layout.after.get(slot, ()))
    content = template.notebook(cells)
    if damage:
        content["metadata"].setdefault("gradaccum", {})["damaged"] = damage
    return RebuiltNotebook(content, names, frozenset(given), frozenset(absent.values()))


def _absent(template: Template, matched: Sequence[MatchedCell]) -> dict[int, str]:
    """The exercises for which there is no cell, by slot. One that says so, in a notebook that was rebuilt before, is none."""
    names = {slot: name for name, slot in template.exercises.items()}
    cells = [(match.slot, match.cell.source) for match in matched if match.slot in names]
    there = {slot for slot, source in cells if source != _NOT_THERE.format(names[slot])}
    there |= {template.exercises[stub.name] for match in matched for stub in match.stubs}
    there |= {template.exercises[name] for match in matched for name in match.answers}
    return {slot: name for slot, name in names.items() if slot not in there}


def unreadable(notebook: Mapping[str, Any], reason: str) -> NotebookNode:
    """A released notebook with nothing written in it and the reason in its metadata, for a file that cannot be read."""
    from nbformat import from_dict

    template = Template.of(notebook)
    content = template.notebook(template.cells)
    content["metadata"].setdefault("gradaccum", {})["unreadable"] = reason
    return from_dict(content)


@dataclass(frozen=True)
class _Layout:
    """Where the student's cells go, by slot: in the template's cell, before it or after it (-1: before all cells)."""

    inside: dict[int, MatchedCell] = field(default_factory=dict)
    before: dict[int, list[MatchedCell]] = field(default_factory=dict)
    after: dict[int, list[MatchedCell]] = field(default_factory=dict)

    def put_inside(self, slot: int, match: MatchedCell) -> None:
        """Fill a cell of the template; what was in it moves before it."""
        if slot in self.inside:
            self.put_before(slot, self.inside[slot])
        self.inside[slot] = match

    def put_before(self, slot: int, match: MatchedCell) -> None:
        self.before.setdefault(slot, []).append(match)

    def put_after(self, slot: int, match: MatchedCell) -> None:
        self.after.setdefault(slot, []).append(match)


def _layout(template: Template, matched: Sequence[MatchedCell]) -> _Layout:
    last_answers = {name: match for match in matched for name in match.answers}
    slots_of_answers = _slots_of_answers(template, matched, last_answers)
    final = {template.exercises[name]: match for name, match in last_answers.items()}
    layout, anchor = _Layout(), -1
    for match in matched:
        slot = slots_of_answers.get(match.number, match.slot)
        anchor = anchor if match.slot is None else match.slot
        if match.released or not match.cell.source.strip():
            continue  # the template has it
        if slot is None:
            layout.put_after(anchor, match)
        elif slot in template.manual_cells or (match.cell.kind == "code" and template.is_exercise(slot)):
            if final.get(slot, match) is match:
                layout.put_inside(slot, match)
            else:
                layout.put_before(slot, match)
        elif match.cell.kind == "code" and template.cells[slot]["cell_type"] == "code":
            layout.put_before(slot, match)  # an edited given cell: the given code is run last
        else:
            layout.put_after(slot, match)
    return layout


def _slots_of_answers(
    template: Template, matched: Sequence[MatchedCell], last_answers: Mapping[str, MatchedCell]
) -> dict[int, int]:
    """The slot of each cell that answers anything, by its number.

    It is the slot of the first function of which the cell holds the last version; but never after a cell that holds the last
    version of another function that it defines as well, since it would replace that version if it ran later.
    """
    slots: dict[int, int] = {}
    for match in reversed(matched):  # the last version of a function comes before all others, which depend on its slot
        own = [template.exercises[name] for name in match.answers if last_answers[name] is match]
        later = [slots[last_answers[name].number] for name in match.answers if last_answers[name] is not match]
        if match.answers:
            slots[match.number] = min(own + later)
    return slots


def _filled_cell(cell: dict[str, Any], written: WrittenCell) -> dict[str, Any]:
    """A cell of the template with what a student wrote in it."""
    if cell["cell_type"] == "code":
        return cell | {"source": written.source}
    return cell | _markdown(written)


def _extra_cell(written: WrittenCell, cell_id: str) -> dict[str, Any]:
    """A cell that the student added; its metadata is empty."""
    cell: dict[str, Any] = {"id": cell_id, "metadata": {}}
    if written.kind == "code":
        return cell | {"cell_type": "code", "source": written.source, "outputs": [], "execution_count": None}
    return cell | {"cell_type": "markdown"} | _markdown(written)


def _markdown(written: WrittenCell) -> dict[str, Any]:
    attachments = safe_attachments(written.attachments)
    return {"source": safe_markdown(written.source)} | ({"attachments": attachments} if attachments else {})


def _released_name(cell: dict[str, Any]) -> str:
    return f"the released cell {cell['id']}"


def _is_graded_check(cell: dict[str, Any]) -> bool:
    """Whether this is a cell that marks, and not one that students write in."""
    roles = cell["metadata"].get("nbgrader", {})
    return roles.get("grade") is True and roles.get("solution") is not True
