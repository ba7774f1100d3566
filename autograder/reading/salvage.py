"""What can be saved of a notebook that is no longer JSON: cut off, damaged in between, or with merge conflicts in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

MAX_SALVAGED = 16 * 2**20
"""Characters of a damaged notebook that is looked through; those of the course have some 10⁵."""

MAX_FAILURES = 2000
"""Places in a damaged notebook that look like the beginning of a cell and cannot be read. Each costs a look at all before."""

MAX_PASSES = 4
"""How often the text of a damaged notebook may be read, in all attempts to find a cell together."""

_CELL = re.compile(
    r'\{\s*"(?:attachments|cell_type|collapsed|execution_count|id|input|language|metadata|outputs|prompt_number|source)"\s*:'
)
_RELEASED_AS = re.compile(r'"gradaccum"\s*:\s*(?=\{)')
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]++|\\.)*+")|,(?=\s*[\]}])', re.DOTALL)


def salvaged(text: str) -> dict[str, Any] | None:
    """A notebook of all cells that can be read in a text that is not JSON; None if there are none, or the text is too long.

    Where somebody's copy and another one stand side by side (a merge conflict, or the rest of a longer file that was written
    over), the cells of their own copy come last, so that these count.
    """
    if len(text) > MAX_SALVAGED:
        return None
    if sides := conflict_sides(text):
        ours, theirs = (_loaded(side) or salvaged(side) or {} for side in sides)
        return _notebook(text, [*_cells_of(theirs), *_cells_of(ours)])
    if whole := _loaded(_TRAILING_COMMA.sub(lambda match: match[1] or "", text)):
        return whole
    try:
        content, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        content, end = None, 0
    return _notebook(text, [*_salvaged_cells(text[end:]), *_cells_of(content)])


def conflict_sides(text: str) -> tuple[str, str] | None:
    """Both sides of all merge conflicts that git left in a text, one's own first; None if there are none.

    A conflict that never ends is none, and what stands there stays in both.
    """
    ours: list[str] = []
    theirs: list[str] = []
    waiting: list[str] = []  # the lines of a conflict so far
    sides: tuple[list[str], ...] = ([], [], [])  # one's own, what both come from, the other's
    side, found = -1, False
    for line in text.splitlines(keepends=True):
        sign = line.rstrip().partition(" ")[0]
        if side < 0 and sign != "<" * 7:
            ours.append(line)
            theirs.append(line)
            continue
        waiting.append(line)
        if side < 0:
            side, sides = 0, ([], [], [])
        elif sign == "|" * 7 and side == 0:
            side = 1
        elif sign == "=" * 7 and side < 2:
            side = 2
        elif sign == ">" * 7 and side == 2:
            ours += sides[0]
            theirs += sides[2]
            side, found, waiting = -1, True, []
        else:
            sides[side].append(line)
    return ("".join([*ours, *waiting]), "".join([*theirs, *waiting])) if found else None


_DECODER = json.JSONDecoder(strict=False)


def _loaded(text: str) -> dict[str, Any] | None:
    """The JSON object in a text; None if it is none."""
    try:
        content = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _notebook(text: str, cells: list[dict[str, Any]]) -> dict[str, Any] | None:
    """A notebook with these cells and what the release wrote into the metadata, if that can still be read."""
    if not cells:
        return None
    released_as = None
    for match in _RELEASED_AS.finditer(text):
        try:
            released_as, _ = _DECODER.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            continue
    return {"cells": cells, "metadata": {"gradaccum": released_as}}


def _cells_of(content: object) -> list[dict[str, Any]]:
    cells = content.get("cells") if isinstance(content, dict) else None
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []


def _salvaged_cells(text: str) -> Iterator[dict[str, Any]]:
    """The cells that can be read in a text. One that is damaged goes as far as the damage."""
    place, left, failures = 0, MAX_PASSES * len(text), 0
    while left > 0 and failures < MAX_FAILURES and (match := _CELL.search(text, place)):
        start, place = match.start(), match.end()
        try:
            cell, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            end = len(text) if error.msg.startswith("Unterminated string") else error.pos
            cell = _beginning(text[start:end])
            failures += 1
        except (ValueError, RecursionError):
            failures += 1
            continue
        left -= end - start
        if isinstance(cell, dict) and isinstance(cell.get("cell_type"), str):
            yield cell
            place = max(place, end)


def _beginning(text: str) -> object:
    """The value whose JSON text breaks off here, as far as it goes; None if nothing can be made of it."""
    import jiter  # few files are damaged

    try:
        return jiter.from_json(text.encode(errors="replace"), partial_mode="trailing-strings", catch_duplicate_keys=False)
    except ValueError:
        return None
