"""The bytes of a notebook file → JSON → the cells as they were written, whatever happened to the file. Bounded in memory.

Only the texts, kinds, ids and attachments of cells are taken out of a file; everything else in it (outputs, widgets,
metadata) is left behind, so its shape and depth do not matter.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from typing import Any

from autograder.reading.python_source import MAX_PARSED_LENGTH
from autograder.reading.salvage import salvaged
from autograder.support.one_line import one_line

MAX_MEMORY = 2 * 2**30
"""Bytes that reading a file may take; a file that might take more is refused before it is parsed."""

MAX_VALUE_SIZE = 128
"""Bytes that a value of a JSON document may take in addition to its text. A key that occurs only once takes the most."""

MAX_CELLS = 2000
"""Cells a notebook may have; those of the course have some 70."""

MAX_CODE_CHARACTERS = 1_000_000
"""Characters of code that are kept of all cells together, or of a Python file."""

MAX_NAME_LENGTH = 200
"""Characters that are kept of the name of a cell."""

MAX_PROSE_CHARACTERS = 20_000_000
"""Characters of other text that are kept of all cells together; it may hold pictures."""


def what_it_is(problem: str) -> str:
    """What a message of :class:`UnreadableError` says about a file, without what it asks of a student."""
    return problem.partition("; ")[0]


class UnreadableError(ValueError):
    """Bytes that are not a notebook. The message says in one line what they are and what to do."""


@dataclass(frozen=True)
class WrittenCell:
    """A cell as it was handed in.

    Attributes:
        kind: ``"code"``, ``"markdown"`` or ``"raw"``.
        source: its text, with plain line ends; it can be encoded.
        place: how to name it to the student; code cells and text cells are counted separately.
        grade_id, id: empty if it has none.
        attachments: as they are in the file.
    """

    kind: str
    source: str
    place: str
    grade_id: str = ""
    id: str = ""
    attachments: dict = field(default_factory=dict)


def json_of(data: bytes) -> tuple[Any, str]:
    """The content of a JSON file in UTF-8, UTF-16 or UTF-32, with or without a byte-order mark, and what is wrong with it.

    Of a notebook that is no longer JSON it is what can still be read, and the second value says so; else that is empty.

    Raises:
        UnreadableError: nothing of it is a notebook, or it is so large or so deep that reading it is not safe.
    """
    text = _decoded(data).rstrip("\0\x1a \t\r\n")
    _refuse_bombs(text)
    try:
        content = json.loads(text, strict=False, parse_int=_integer)
        if isinstance(content, str) and content.startswith("{"):  # JSON in a string of JSON
            _refuse_bombs(content)
            content = json.loads(content, strict=False, parse_int=_integer)
        return content, ""
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        if rest := salvaged(text):
            return rest, f"is damaged (see {place}); {len(rest['cells'])} cells of it could be read"
        raise UnreadableError(f"is not JSON (see {place}), so not a notebook; save it again or hand in another copy") from None
    except (RecursionError, MemoryError):
        raise UnreadableError("is not JSON that can be read: it is nested too deeply; hand in another copy") from None


def written_cells(content: object) -> list[WrittenCell]:
    """The cells of a notebook of any format, in order. What is not a cell is passed over.

    Raises:
        UnreadableError: it is not a notebook, or has more cells than anyone writes.
    """
    cells = _cells_of(content)
    if cells is None:
        raise UnreadableError("is JSON, but not a notebook; hand in the .ipynb file you worked in")
    if len(cells) > MAX_CELLS:
        raise UnreadableError(f"has {len(cells)} cells, {MAX_CELLS} are read; delete those that are not needed")
    found: list[WrittenCell] = []
    code_cells, code_left = 0, MAX_CODE_CHARACTERS
    text_cells, text_left = 0, MAX_PROSE_CHARACTERS
    for cell in cells:
        if not isinstance(cell, dict):
            continue
        kind, source = _kind_of(cell), _source_of(cell)
        if kind == "code":
            code_cells += 1
            place = f"code cell {code_cells}"
            source = _shortened(source, min(code_left, MAX_PARSED_LENGTH))
            code_left -= len(source)
        else:
            text_cells += 1
            place = f"text cell {text_cells}"
            source = _shortened(source, text_left)
            text_left -= len(source)
        grade_id, attachments = _get(cell, "metadata", "nbgrader", "grade_id"), cell.get("attachments")
        found.append(
            WrittenCell(
                kind,
                source,
                place,
                grade_id=_name(grade_id),
                id=_name(cell.get("id")),
                attachments=attachments if isinstance(attachments, dict) else {},
            )
        )
    return found


def _name(written: object) -> str:
    """What a file calls a cell; empty if that is no text."""
    return one_line(written, MAX_NAME_LENGTH) if isinstance(written, str) else ""


def unit_named_in(content: object) -> object:
    """The unit that the release wrote into a notebook's metadata, or whatever stands there now; None if nothing does."""
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
        return data.decode(encoding, "replace")  # a damaged byte costs one character


def _refuse_bombs(text: str) -> None:
    """Raise if parsing could take more than :data:`MAX_MEMORY`."""
    wide = 5 * len(text) if "\\u" in text else sys.getsizeof(text)  # an escape can make a string wide, and it grows in steps
    strings = 2 * sys.getsizeof(text) + wide  # the file's bytes, the text, and the strings in it
    max_values = (MAX_MEMORY - strings) // MAX_VALUE_SIZE
    if max_values < 0 or (_count_structure(text) > max_values and _has_more_values(text, max_values)):
        problem = "reading it could take more memory than there is for one notebook"
        raise UnreadableError(f"{problem}; clear its outputs and save it again")


def _count_structure(text: str) -> int:
    return sum(text.count(sign) for sign in _STRUCTURE)


def _has_more_values(text: str, limit: int) -> bool:
    """Whether a document holds more values than that; signs inside strings do not count."""
    count, position = 0, 0
    for strings, string in enumerate(_STRING.finditer(text)):
        count += _count_structure(text[position : string.start()])
        if max(count, strings) > limit:
            return True
        position = string.end()
    return count + _count_structure(text[position:]) > limit


def _integer(text: str) -> int:
    return int(text) if len(text) < 1000 else 0  # Python refuses thousands of digits, and no cell needs them


def _cells_of(content: object) -> list | None:
    """The cells of a notebook, or of all worksheets of a notebook of format 3 or older; None if it is not a notebook."""
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
    """The text of a cell; formats 3 and older have other keys for it."""
    source = next((cell[key] for key in ("source", "input", "code", "text") if key in cell), "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    if not isinstance(source, str):
        return ""
    level = cell.get("level") if cell.get("cell_type") == "heading" else 0
    return clean(f"{'#' * level} {source}" if isinstance(level, int) and 1 <= level <= 6 else source)


def _shortened(source: str, limit: int) -> str:
    """The text, or a comment in its place if it is longer than that."""
    return source if len(source) <= limit else f"# {len(source)} characters stood here, too many to be read"


def _get(content: object, *keys: str) -> object:
    """What stands in a dictionary under a key, in that under the next key, and so on; None if there is no such key."""
    for key in keys:
        content = content.get(key) if isinstance(content, dict) else None
    return content
