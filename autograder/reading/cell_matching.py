"""Which cell of the released notebook a student's cell is, and which functions it answers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from autograder.reading.notebook_json import LONGEST, WrittenCell
from autograder.reading.python_source import Definition, definitions, is_python, repaired, says

MOST_PARTS = 4
"""Cells that a function may have been split into."""

MOST_BROKEN = 100
"""Cells that are not Python in a notebook whose functions may have been split; with more, nobody split them."""


@dataclass(frozen=True)
class Slots:
    """The places of a released notebook, and what a cell that belongs there may be recognised by.

    Attributes:
        cells: of the template.
        exercises: the place of each function's solution cell.
        by_hand: places of other cells that students write in; they are marked by people.
        sources, grade_ids, ids: the place of each text and name; of the first, where several cells have the same text.
    """

    cells: Sequence[dict]
    exercises: dict[str, int]
    by_hand: frozenset[int]
    sources: dict[str, int]
    grade_ids: dict[str, int]
    ids: dict[str, int]

    @classmethod
    def of(cls, cells: Sequence[dict], exercises: Collection[str]) -> Slots:
        """The places of a template's cells."""
        roles = [cell["metadata"].get("nbgrader", {}) for cell in cells]
        grade_ids = {role["grade_id"]: slot for slot, role in enumerate(roles) if "grade_id" in role}
        wanted = {name: grade_ids[f"{name}-solution"] for name in exercises if f"{name}-solution" in grade_ids}
        written = {slot for slot, role in enumerate(roles) if role.get("solution")}
        sources = {cell["source"].strip(): slot for slot, cell in reversed(list(enumerate(cells)))}
        ids = {cell["id"]: slot for slot, cell in enumerate(cells)}
        return cls(cells, wanted, frozenset(written - set(wanted.values())), sources, grade_ids, ids)

    def of_cell(self, cell: WrittenCell) -> int | None:
        """Which cell of the template this was: by its text, else by its ids."""
        text = cell.source.strip()
        if text and text in self.sources:
            return self.sources[text]
        return self.grade_ids.get(cell.grade_id, self.ids.get(cell.id))

    def is_released(self, cell: WrittenCell) -> bool:
        """Whether a text is one that was released; of given code, a part of it will do."""
        if cell.source.strip() in self.sources or not cell.source.strip():
            return True
        slot = self.of_cell(cell)
        if slot is None or slot in self.by_hand or slot in self.exercises.values() or cell.kind != "code":
            return False
        said = says(cell.source)
        return said is not None and said <= (says(self.cells[slot]["source"]) or set())


@dataclass(frozen=True)
class Found:
    """A student's cell and what it is to the template.

    Attributes:
        number: its place in the student's order.
        cell: what is written in it.
        slot: the place it has or had in the template, if any.
        released: whether its text was released and is not the student's.
        answers: functions it defines.
        stubs: where it repeats the stub of a function that it does not answer.
    """

    number: int
    cell: WrittenCell
    slot: int | None
    released: bool
    answers: frozenset[str] = frozenset()
    stubs: tuple[Definition, ...] = ()


def recognised(written: Sequence[WrittenCell], slots: Slots) -> list[Found]:
    """Every cell of a submission, in the student's order; functions that were split over cells are in one piece again."""
    cells = _joined(_as_code(written, slots), slots)
    return [_recognise(number, cell, slots) for number, cell in enumerate(cells)]


def without_idle_stubs(found: Sequence[Found]) -> list[Found]:
    """Stubs of functions that are written somewhere else are taken out: run after that, they would undo it."""
    answered = {name for entry in found for name in entry.answers}
    kept = []
    for entry in found:
        idle = [stub.lines for stub in entry.stubs if stub.name in answered]
        if idle:
            source = _without_lines(entry.cell.source, idle)
            if says(source) == set():
                continue
            entry = replace(entry, cell=replace(entry.cell, source=source))
        kept.append(entry)
    return kept


def _recognise(number: int, cell: WrittenCell, slots: Slots) -> Found:
    slot, released = slots.of_cell(cell), slots.is_released(cell)
    if cell.kind != "code":
        return Found(number, cell, slot, released)
    defined = definitions(cell.source, slots.exercises)
    answers = frozenset(d.name for d in defined if not d.stub and not released)
    occupied = {d.lines for d in defined if d.name in answers}
    stubs = tuple(d for d in defined if d.name not in answers and d.lines not in occupied)
    names = answers or {stub.name for stub in stubs}
    return Found(number, cell, min(slots.exercises[n] for n in names) if names else slot, released, answers, stubs)


def _as_code(cells: Sequence[WrittenCell], slots: Slots) -> list[WrittenCell]:
    """Text that was code is code: it defines a function that students write, or stands in the cell of one and is Python."""

    def was_code(cell: WrittenCell) -> bool:
        in_its_cell = slots.grade_ids.get(cell.grade_id) in slots.exercises.values()
        return (
            len(cell.source) <= LONGEST
            and is_python(cell.source)
            and (in_its_cell or bool(definitions(cell.source, slots.exercises)))
        )

    return [replace(cell, kind="code") if cell.kind != "code" and was_code(cell) else cell for cell in cells]


def _joined(cells: Sequence[WrittenCell], slots: Slots) -> list[WrittenCell]:
    """Code that was split in the middle of a statement in one piece again; other code mended as far as indentation goes."""
    broken = sum(cell.kind == "code" and not is_python(cell.source) for cell in cells)
    whole: list[WrittenCell] = []
    parts: list[int] = []  # where in `whole` the latest code of the student stands
    for cell in cells:
        own = cell.kind == "code" and not slots.is_released(cell)
        torn = own and broken <= MOST_BROKEN and not is_python(cell.source)
        start = _start_of_split([whole[k] for k in parts], cell, slots) if torn else None
        if start is None:
            parts = [*parts, len(whole)] if own else parts
            whole.append(cell)
        else:
            first, *others = parts[start:]
            whole[first] = _in_one([*(whole[k] for k in parts[start:]), cell])
            whole = [cell for k, cell in enumerate(whole) if k not in others]
            parts = parts[: start + 1]
        parts = parts[1 - MOST_PARTS :]
    return [replace(cell, source=repaired(cell.source)) if cell.kind == "code" else cell for cell in whole]


def _start_of_split(before: Sequence[WrittenCell], last: WrittenCell, slots: Slots) -> int | None:
    """Which of the cells before holds the beginning of what ends in ``last``; None if none does."""
    if definitions(repaired(last.source), slots.exercises):
        return None
    joins = (k for k in reversed(range(len(before))) if is_python(_in_one([*before[k:], last]).source))
    return next(joins, None)


def _in_one(parts: Sequence[WrittenCell]) -> WrittenCell:
    grade_id = next((part.grade_id for part in parts if part.grade_id), "")
    place = " and ".join([parts[0].place, *(part.place.removeprefix("code cell ") for part in parts[1:])])
    return replace(parts[0], source="\n".join(part.source for part in parts), grade_id=grade_id, place=place)


def _without_lines(source: str, ranges: Collection[tuple[int, int]]) -> str:
    """A text in which those lines, counted from 1, are blank; so that all others keep their numbers."""
    gone = {line for first, last in ranges for line in range(first, last + 1)}
    return "\n".join("" if number in gone else line for number, line in enumerate(source.split("\n"), 1))
