"""The notebook that was released: its cells, which of them students write in, and how a student's cell is recognised there."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.reading.parsed_cell import ParsedCell
from autograder.reading.python_source import PythonSource
from autograder.released import exercises_in


@dataclass(frozen=True)
class Template:
    """A released notebook. A *slot* is the index of one of its cells.

    Attributes:
        cells: the cells without outputs; each has an id, and its text in one piece.
        metadata: of the notebook.
        exercises: the slot of each function's solution cell.
        manual_cells: slots of other cells that students write in; people mark these.
        given: the texts of all cells that students do not write in, by slot.
        texts, grade_ids, ids: the slot of each text, grade_id and id; the first slot if several cells have the same text.
    """

    cells: tuple[dict[str, Any], ...]
    metadata: dict[str, Any]
    exercises: dict[str, int]
    manual_cells: frozenset[int]
    given: dict[int, PythonSource]
    texts: dict[str, int]
    grade_ids: dict[str, int]
    ids: dict[str, int]

    @classmethod
    def of(cls, notebook: Mapping[str, Any]) -> Template:
        """The template for a released notebook, which is copied."""
        cells = _fresh_cells(notebook)
        roles = [cell["metadata"].get("nbgrader", {}) for cell in cells]
        grade_ids = {role["grade_id"]: slot for slot, role in enumerate(roles) if "grade_id" in role}
        exercises = {name: grade_ids[f"{name}-solution"] for name in exercises_in(notebook)}
        written = {slot for slot, role in enumerate(roles) if role.get("solution")} | set(exercises.values())
        return cls(
            cells=cells,
            metadata=copy.deepcopy(dict(notebook["metadata"])),
            exercises=exercises,
            manual_cells=frozenset(written - set(exercises.values())),
            given={slot: PythonSource(cell["source"]) for slot, cell in enumerate(cells) if slot not in written},
            texts={cell["source"].strip(): slot for slot, cell in reversed(list(enumerate(cells)))},
            grade_ids=grade_ids,
            ids={cell["id"]: slot for slot, cell in enumerate(cells)},
        )

    def slot_of(self, cell: ParsedCell) -> int | None:
        """The slot of the cell that this one was, by its text or else by its ids; None if it was not one of the template's."""
        text = cell.text.strip()
        if text and text in self.texts:
            return self.texts[text]
        return self.grade_ids.get(cell.written.grade_id, self.ids.get(cell.written.id))

    def has_text(self, cell: ParsedCell) -> bool:
        """Whether the cell's text is that of a cell of the template, or blank."""
        return not (text := cell.text.strip()) or text in self.texts

    def is_released(self, cell: ParsedCell) -> bool:
        """Whether the cell's text was released and is not the student's; a part of given code counts as released as well."""
        if self.has_text(cell):
            return True
        slot = self.slot_of(cell)
        if slot is None or slot not in self.given or cell.kind != "code":
            return False
        statement_set = cell.python.statement_set
        return statement_set is not None and statement_set <= (self.given[slot].statement_set or frozenset())

    def is_exercise(self, slot: int | None) -> bool:
        """Whether the cell in this slot is the solution cell of an exercise."""
        return slot in self.exercises.values()

    def notebook(self, cells: Collection[dict[str, Any]]) -> dict[str, Any]:
        """A notebook of format 4 with these cells and the template's metadata."""
        return {"cells": list(cells), "metadata": copy.deepcopy(self.metadata), "nbformat": 4, "nbformat_minor": 5}


def _fresh_cells(notebook: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """Copies of a notebook's cells without outputs; each has an id, and its text in one piece."""
    cells = []
    for number, cell in enumerate(notebook["cells"], 1):
        outputs: dict[str, Any] = {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else {}
        text = {"source": "".join(cell["source"])}
        cells.append({"id": f"cell-{number}"} | copy.deepcopy(dict(cell)) | text | outputs)
    return tuple(cells)
