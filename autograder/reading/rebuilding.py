"""What a student wrote, put back into the notebook that was released: damage to the rest of it costs nobody a mark.

The released notebook gives the cells, their order and their metadata. A submission gives the functions, wherever they stand
and whatever their cells are called now, and all else that students added.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from autograder.reading.cell_matching import Found, Slots, recognised, without_idle_stubs
from autograder.reading.notebook_json import UnreadableError, WrittenCell, written_cells
from autograder.reading.safe_markdown import harmless, pictures

if TYPE_CHECKING:
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Recovered:
    """A notebook put together again.

    Attributes:
        content: a valid notebook of format 4, as plain data.
        names: how to name its code cells to the student, by id.
    """

    content: dict
    names: dict[str, str]


def sanitise(template: NotebookNode, submission: dict, exercises: Collection[str]) -> NotebookNode:
    """The released notebook with what the student wrote.

    Cells, their order, ids and metadata are the template's; its given cells and its checks are as released. A solution cell
    holds what the student wrote for its function: the last cell that defines it and is not the unchanged stub, whatever that
    cell is called; older versions stand before it. Cells that define nothing are recognised by ``grade_id`` or id. What
    matches nothing is kept as an ordinary cell behind what it stood behind; text of students is made harmless.

    Args:
        template: the notebook that was released.
        submission: what the file holds, as JSON; in any state.
        exercises: names of the functions that students write.

    Raises:
        UnreadableError: it is not a notebook, or one without code.
    """
    from nbformat import from_dict

    return from_dict(recover(template, written_cells(submission), exercises).content)


def unreadable(template: NotebookNode, reason: str) -> NotebookNode:
    """The released notebook with nothing written, for a file of which nothing can be read, and the reason."""
    from nbformat import from_dict

    content = _notebook(template, _fresh(template))
    content["metadata"].setdefault("gradaccum", {})["unreadable"] = reason
    return from_dict(content)


def recover(template: dict, written: Sequence[WrittenCell], exercises: Collection[str]) -> Recovered:
    """As :func:`sanitise`, with plain data; needs no notebook library.

    Raises:
        UnreadableError: there is no code.
    """
    cells = _fresh(template)
    slots = Slots.of(cells, exercises)
    found = recognised(written, slots)
    if not any(entry.cell.kind == "code" for entry in found):
        raise UnreadableError("is a notebook without code cells; hand in the one you worked in")
    return _rebuilt(template, slots, without_idle_stubs(found))


@dataclass(frozen=True)
class _Layout:
    """Where the student's cells go: in a place of the template, before it or behind it (-1: before all)."""

    inside: dict[int, Found] = field(default_factory=dict)
    before: dict[int, list[Found]] = field(default_factory=dict)
    behind: dict[int, list[Found]] = field(default_factory=dict)


def _layout(slots: Slots, found: Sequence[Found]) -> _Layout:
    answers = {name: entry for entry in found for name in entry.answers}  # the last one counts
    slot_of = _answer_slots(slots, found, answers)
    taken = {slots.exercises[name]: entry for name, entry in answers.items()}
    layout, anchor = _Layout(), -1
    for entry in found:
        slot = slot_of.get(entry.number, entry.slot)
        anchor = anchor if entry.slot is None else entry.slot
        if (entry.released and not entry.answers) or not entry.cell.source.strip():
            continue  # the template has it
        is_code = entry.cell.kind == "code"
        if slot in slots.by_hand or (is_code and slot in slots.exercises.values()):
            if taken.get(slot, entry) is entry:
                if slot in layout.inside:
                    layout.before.setdefault(slot, []).append(layout.inside[slot])
                layout.inside[slot] = entry
            else:
                layout.before.setdefault(slot, []).append(entry)
        elif is_code and slot is not None and slots.cells[slot]["cell_type"] == "code":
            layout.before.setdefault(slot, []).append(entry)  # a given cell, edited: what was given is run last
        else:
            layout.behind.setdefault(anchor if slot is None else slot, []).append(entry)
    return layout


def _answer_slots(slots: Slots, found: Sequence[Found], answers: Mapping[str, Found]) -> dict[int, int]:
    """The slot of each cell that answers anything, by its number.

    It is that of the first function it has the last word on; but never behind a cell that has the last word on another
    function that it defines as well, since run later it would undo that.
    """
    placed: dict[int, int] = {}
    for entry in reversed(found):  # who has the last word stands behind all others that define the same
        last_words = [slots.exercises[name] for name in entry.answers if answers[name] is entry]
        overtaken = [placed[answers[name].number] for name in entry.answers if answers[name] is not entry]
        if entry.answers:
            placed[entry.number] = min(last_words + overtaken)
    return placed


def _rebuilt(template: dict, slots: Slots, found: Sequence[Found]) -> Recovered:
    layout = _layout(slots, found)
    seen = {entry.slot: entry.cell.place for entry in reversed(found) if entry.released and entry.cell.kind == "code"}
    answered = {slots.exercises[name]: (name, entry.cell.place) for entry in found for name in entry.answers}
    ids = (name for k in count(1) if (name := f"student-{k}") not in slots.ids)
    cells, names = [], {}

    def put(cell: dict, name: str) -> None:
        cells.append(cell)
        if cell["cell_type"] == "code":
            names[cell["id"]] = name

    for entry in layout.behind.get(-1, ()):
        put(_extra(entry.cell, next(ids)), entry.cell.place)
    for slot, cell in enumerate(slots.cells):
        for entry in layout.before.get(slot, ()):
            put(_extra(entry.cell, next(ids)), entry.cell.place)
        if slot in layout.inside:
            put(_filled(cell, layout.inside[slot].cell), layout.inside[slot].cell.place)
        elif slot in answered:
            put(cell | {"source": "# {} stands in {}.".format(*answered[slot])}, _released_name(cell))
        else:
            put(cell, seen.get(slot, _released_name(cell)))
        for entry in layout.behind.get(slot, ()):
            put(_extra(entry.cell, next(ids)), entry.cell.place)
    return Recovered(_notebook(template, cells), names)


def _fresh(template: dict) -> list[dict]:
    """The template's cells as nobody ran them; each has an id and its text in one piece."""
    cells = []
    for k, cell in enumerate(template["cells"], 1):
        unrun = {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else {}
        cells.append({"id": f"cell-{k}"} | copy.deepcopy(dict(cell)) | {"source": "".join(cell["source"])} | unrun)
    return cells


def _filled(cell: dict, written: WrittenCell) -> dict:
    """A cell of the template with what a student wrote into it."""
    if cell["cell_type"] == "code":
        return cell | {"source": written.source}
    return cell | _text(written)


def _extra(written: WrittenCell, cell_id: str) -> dict:
    """A cell of the student's own; nothing in its metadata."""
    cell = {"id": cell_id, "metadata": {}}
    if written.kind == "code":
        return cell | {"cell_type": "code", "source": written.source, "outputs": [], "execution_count": None}
    return cell | {"cell_type": "markdown"} | _text(written)


def _text(written: WrittenCell) -> dict:
    kept = pictures(written.attachments)
    return {"source": harmless(written.source)} | ({"attachments": kept} if kept else {})


def _released_name(cell: dict) -> str:
    return f"the released cell {cell['id']}"


def _notebook(template: dict, cells: Sequence[dict]) -> dict:
    metadata = copy.deepcopy(dict(template["metadata"]))
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
