"""The bytes of a file → its cells, whatever it is called: a notebook, Python, or Markdown with Python in it."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from autograder.reading.marimo_file import without_marimo
from autograder.reading.notebook_json import (
    MAX_CODE_CHARACTERS,
    UnreadableError,
    WrittenCell,
    clean,
    json_of,
    unit_named_in,
    written_cells,
)
from autograder.reading.python_source import MAX_PARSED_LENGTH, PythonSource
from autograder.reading.salvage import conflict_sides
from autograder.released import unit_of_exercise

_NOTEBOOK = "hand in the .ipynb file you worked in"
SIGNATURES = {
    b"PK\x03\x04": f"a zip archive or an office document, whatever it is called; unpack it, or {_NOTEBOOK}",
    b"%PDF": f"a PDF; {_NOTEBOOK}",
    b"\x1f\x8b": "packed with gzip; unpack it and hand in what is in it",
    b"7z\xbc\xaf": "a 7z archive; unpack it and hand in the notebook that is in it",
    b"Rar!": "a RAR archive; unpack it and hand in the notebook that is in it",
    b"\xd0\xcf\x11\xe0": f"an office document; {_NOTEBOOK}",
    b"\x89PNG": f"a picture; {_NOTEBOOK}",
    b"\xff\xd8\xff": f"a picture; {_NOTEBOOK}",
    b"GIF8": f"a picture; {_NOTEBOOK}",
}
"""What files begin with that cannot be marked, and what they are."""

MARKDOWN = (".md", ".markdown", ".rmd", ".qmd", ".myst")
"""Endings of files that jupytext and its relatives write."""

_WEB_PAGE = re.compile(r"\s*<(?:!doctype html|html|\?xml)", re.IGNORECASE)
_FENCE = re.compile(r"\{?\s*(?:code-cell\b.*|\.?(?:i?python[0-9.]*|py)\b.*)", re.IGNORECASE)
_PERCENT = re.compile(r"^#[ \t]*%%(.*)\n?", re.MULTILINE)
_OPTIONS = re.compile(r"\A(?:---\n(?:.*\n)*?---\n|(?::[\w-]+:.*\n)+)")


@dataclass(frozen=True)
class WrittenFile:
    """What a file holds.

    Attributes:
        cells: in order.
        released_as: the unit that a notebook's metadata says it was released as, or whatever stands there.
        damage: what happened to the file, as a sentence without its subject; empty if nothing did.
    """

    cells: list[WrittenCell]
    released_as: object = None
    damage: str = ""


def written_file(name: str, data: bytes) -> WrittenFile:
    """The cells of a file; what it holds decides how it is read, and its name only where that leaves a choice.

    Raises:
        UnreadableError: nothing of it can be marked. The message says what it is.
    """
    refuse_empty(data)
    for start, what in SIGNATURES.items():
        if data.startswith(start):
            raise UnreadableError(f"is {what}")
    ending = PurePath(name).suffix.lower()
    if is_json_like(data) or b'"cell_type"' in data or (_start(data).startswith(b"[") and ending != ".py"):
        content, damage = json_of(data)
        return WrittenFile(written_cells(content), unit_named_in(content), damage)
    try:
        text = python_text(data)
    except UnreadableError:
        raise _neither(ending) from None
    if _WEB_PAGE.match(text):
        raise UnreadableError(f"is a web page; {_NOTEBOOK}, not one that was exported")
    if ending in MARKDOWN:
        return WrittenFile(list(_cells_of_markdown(text)))
    if ending == ".py" or _is_code_of_the_course(text):
        return WrittenFile(list(_cells_of_script(text)))
    if "```" in text and (cells := list(_cells_of_markdown(text))) and any(cell.kind == "code" for cell in cells):
        return WrittenFile(cells)
    raise _neither(ending)


def _neither(ending: str) -> UnreadableError:
    if ending == ".ipynb":
        return UnreadableError("is not JSON, so not a notebook; save it again or hand in another copy")
    return UnreadableError(f"is neither a notebook (.ipynb) nor a Python file (.py); {_NOTEBOOK}")


def refuse_empty(data: bytes) -> None:
    """Raise if nothing but blanks and byte-order marks is in a file."""
    if not data.strip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"):
        raise UnreadableError("the file is empty; save your work again or hand in another copy")


def python_text(data: bytes) -> str:
    """The text of a Python file, with the code of a marimo notebook at its top level, and without merge conflicts.

    Raises:
        UnreadableError: it is not text, or longer than code that anybody writes.
    """
    try:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            text = data.decode("utf-16")
        else:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            text = data.decode(encoding)
    except (SyntaxError, ValueError, LookupError):  # the encoding does not exist, does not fit or does not yield text
        text = ""
    if not text or "\0" in text.rstrip("\0"):
        raise UnreadableError("is not text, so not a Python file; save it as UTF-8 text")
    if len(text) > MAX_CODE_CHARACTERS:
        raise UnreadableError("is larger than code that anybody writes; hand in the functions and nothing else")
    text = clean(text)
    if sides := conflict_sides(text):
        text = next((side for side in sides if PythonSource(side).is_python), sides[0])
    return without_marimo(text) if "marimo" in text else text


def is_json_like(data: bytes) -> bool:
    """Whether these bytes begin as a JSON object does, in any encoding, or with a conflict in one, or with one in a string."""
    start = _start(data)
    return start.startswith((b"{", b"<<<<<<< ", b'"{'))


def _start(data: bytes) -> bytes:
    return data[:4000].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")


def _is_code_of_the_course(text: str) -> bool:
    """Whether a text is Python that defines an exercise of the course."""
    source = PythonSource(text, unit_of_exercise())
    return source.is_python and bool(source.definitions(unit_of_exercise()))


def _cells_of_script(text: str) -> Iterator[WrittenCell]:
    """The cells of a Python file, cut where a line begins with ``# %%``; text cells in comments are passed over."""
    first, *others = _PERCENT.split(text)
    marked = [("", first), *zip(others[::2], others[1::2], strict=True)]
    sources = [source for title, source in marked if source.strip() and not re.search(r"\[(?:markdown|md|raw)\]", title)]
    for number, source in enumerate(sources, 1):
        if len(source) > MAX_PARSED_LENGTH:
            raise UnreadableError("is larger than code that anybody writes; hand in the functions and nothing else")
        yield WrittenCell("code", source, f"code cell {number}")


def _cells_of_markdown(text: str) -> Iterator[WrittenCell]:
    """Python code blocks as code cells, and the text between them as text cells."""
    from markdown_it import MarkdownIt

    lines, place, numbers = text.split("\n"), 0, {"code": 0, "markdown": 0}

    def cell(kind: str, source: str) -> WrittenCell:
        numbers[kind] += 1
        return WrittenCell(kind, source, f"{'code' if kind == 'code' else 'text'} cell {numbers[kind]}")

    for token in MarkdownIt("zero").enable("fence").parse(text):
        if token.type == "fence" and token.map and _FENCE.match(token.info):
            between = "\n".join(lines[place : token.map[0]]).strip()
            if between:
                yield cell("markdown", between)
            yield cell("code", _OPTIONS.sub("", token.content).rstrip("\n"))
            place = token.map[1]
    if rest := "\n".join(lines[place:]).strip():
        yield cell("markdown", rest)
