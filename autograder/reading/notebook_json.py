"""The bytes of a notebook file → the cells that somebody wrote, whatever happened to the file. Bounded in memory.

Only texts, kinds and ids are taken out of a file; everything else in it (outputs, widgets, metadata) is left behind. So it
does not matter what shape or depth it has.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from typing import Any

MEMORY = 2 * 2**30
"""Bytes that reading a file may take; a file that might take more is refused before it is parsed."""

VALUE = 128
"""Bytes that a value of a JSON document may take beside its text: the most is a key that occurs once, and its place."""

MOST_CELLS = 2000
"""Cells a notebook may have; those of the course have some 70."""

LONGEST = 100_000
"""Characters that are kept of a cell's code. Parsing Python takes a few hundred bytes for each."""

ALL_TEXT = {"code": 1_000_000, "other": 20_000_000}
"""Characters that are kept of all cells together; in prose there may be pictures."""


class UnreadableError(ValueError):
    """Bytes that are no notebook. The message says in one line what they are and what to do."""


@dataclass(frozen=True)
class WrittenCell:
    """A cell as it was handed in.

    Attributes:
        kind: ``"code"``, ``"markdown"`` or ``"raw"``.
        source: with plain line ends; text that can be encoded.
        place: how to name it to the student; code cells are counted by themselves.
        grade_id, id: empty if it has none.
        attachments: as they are in the file.
    """

    kind: str
    source: str
    place: str
    grade_id: str = ""
    id: str = ""
    attachments: dict = field(default_factory=dict)


def json_of(data: bytes) -> Any:
    """What a JSON file says, in UTF-8, UTF-16 or UTF-32, with or without a byte-order mark.

    Raises:
        UnreadableError: it is not JSON, or so large or so deep that reading it is not safe.
    """
    text = _decoded(data).rstrip("\0\x1a \t\r\n")
    _refuse_bombs(text)
    try:
        return json.loads(text, strict=False, parse_int=_integer)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UnreadableError(f"is not JSON (see {place}), so not a notebook; save it again or hand in another copy") from None
    except (RecursionError, MemoryError):
        raise UnreadableError("is not JSON that can be read: it is nested too deeply; hand in another copy") from None


def written_cells(content: object) -> list[WrittenCell]:
    """The cells of a notebook of any format, in order. What is not a cell is passed over.

    Raises:
        UnreadableError: it is not a notebook, or has more cells than anybody writes.
    """
    cells = _cells_of(content)
    if cells is None:
        raise UnreadableError("is JSON, but not a notebook; hand in the .ipynb file you worked in")
    if len(cells) > MOST_CELLS:
        raise UnreadableError(f"has {len(cells)} cells, {MOST_CELLS} are read; delete those that are not needed")
    found: list[WrittenCell] = []
    left, counts = dict(ALL_TEXT), {"code": 0, "other": 0}
    for cell in cells:
        if not isinstance(cell, dict):
            continue
        kind = _kind_of(cell)
        counted = "code" if kind == "code" else "other"
        counts[counted] += 1
        place = f"code cell {counts['code']}" if kind == "code" else f"text cell {counts['other']}"
        source = _source_of(cell)
        if len(source) > left[counted] or (kind == "code" and len(source) > LONGEST):
            source = f"# {len(source)} characters stood here, too many to be read"
        left[counted] -= len(source)
        grade_id, attachments = _get(cell, "metadata", "nbgrader", "grade_id"), cell.get("attachments")
        ids = [clean(name) if isinstance(name, str) else "" for name in (grade_id, cell.get("id"))]
        found.append(WrittenCell(kind, source, place, *ids, attachments if isinstance(attachments, dict) else {}))
    return found


def unit_named_in(content: object) -> object:
    """What the release wrote into a notebook's metadata, if it is still there."""
    return _get(content, "metadata", "gradaccum", "unit")


def clean(text: str) -> str:
    """A text with plain line ends that can be encoded and compiled: no byte-order mark, NUL or half of a character."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return _SURROGATE.sub("\ufffd", text)


_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_STRUCTURE = ",:[{"


def _decoded(data: bytes) -> str:
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        return data.decode(encoding, "replace")  # a byte that was damaged costs a character


def _refuse_bombs(text: str) -> None:
    """Raise if parsing could take more than :data:`MEMORY`."""
    wide = 5 * len(text) if "\\u" in text else sys.getsizeof(text)  # an escape can make a string wide, and it grows in steps
    most_values = (MEMORY - 2 * sys.getsizeof(text) - wide) // VALUE  # the file's bytes, the text, and the strings in it
    if most_values < 0 or (_structure(text) > most_values and _values_exceed(text, most_values)):
        problem = "reading it could take more memory than there is for one notebook"
        raise UnreadableError(f"{problem}; clear its outputs and save it again")


def _structure(text: str) -> int:
    return sum(text.count(sign) for sign in _STRUCTURE)


def _values_exceed(text: str, most: int) -> bool:
    """Whether a document holds more values than that, what stands inside of strings not counted."""
    count, position = 0, 0
    for strings, string in enumerate(_STRING.finditer(text)):
        count += _structure(text[position : string.start()])
        if max(count, strings) > most:
            return True
        position = string.end()
    return count + _structure(text[position:]) > most


def _integer(text: str) -> int:
    return int(text) if len(text) < 1000 else 0  # Python refuses some thousands of digits, and nobody wants them


def _cells_of(content: object) -> list | None:
    """The cells of a notebook, or of all worksheets of a notebook of format 3 or older; None if it is none."""
    if not isinstance(content, dict):
        return None
    if isinstance(content.get("cells"), list):
        return content["cells"]
    sheets = content.get("worksheets")
    if not isinstance(sheets, list):
        return None
    found = [sheet["cells"] for sheet in sheets if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)]
    return [cell for cells in found for cell in cells]


def _kind_of(cell: dict) -> str:
    kind = cell.get("cell_type")
    if kind in ("code", "markdown", "raw"):
        return kind
    return "code" if "outputs" in cell or "input" in cell or "code" in cell else "markdown"


def _source_of(cell: dict) -> str:
    """The text of a cell; formats 3 and older have other words for it."""
    source = next((cell[word] for word in ("source", "input", "code", "text") if word in cell), "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    if not isinstance(source, str):
        return ""
    level = cell.get("level") if cell.get("cell_type") == "heading" else 0
    return clean(f"{'#' * level} {source}" if isinstance(level, int) and 1 <= level <= 6 else source)


def _get(content: object, *keys: str) -> Any:
    for key in keys:
        content = content.get(key) if isinstance(content, dict) else None
    return content
