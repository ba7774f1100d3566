"""Each message that the guide to troubleshooting quotes is one that the course, or the named program, still prints."""

from __future__ import annotations

import ast
import contextlib
import errno
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import nbgrader
import psycopg
import pytest

from autograder.support.os_trouble import os_trouble

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "troubleshooting.md"

MAX_VALUE = 60
"""Characters of a value that stands in a message."""
MIN_LITERAL = 0.5
"""The share of a quoted text that stands word for word in one template; the rest are values."""

Template = tuple[str, ...]
"""The literal parts of a string, between which values are put."""


def quoted_messages() -> list[str]:
    """What stands in backticks in the first column of the guide's tables."""
    rows = [line.split(" | ")[0] for line in GUIDE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return list(dict.fromkeys(message for row in rows for message in re.findall(r"`([^`]+)`", row)))


def fragments(message: str) -> list[str]:
    """The parts of a quoted message that are the same every time it is printed."""
    return [part for piece in message.split("…") if (part := piece.strip(" :;,()'./"))]


@cache
def templates() -> tuple[Template, ...]:
    """All strings in the sources of the course and in what skips its tests, and the lines of its Makefile."""
    found: set[Template] = set()
    for folder in ("autograder", "gradaccum", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            if folder != "tests" or path.name == "conftest.py" or path.name == "test_postgresql.py":
                found |= {_template(node) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if _is_text(node)}
    found |= {(line,) for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()}
    return tuple(found)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _template(node: ast.AST) -> Template:
    values = node.values if isinstance(node, ast.JoinedStr) else [node]
    parts, literal = [], ""
    for value in values:
        if isinstance(value, ast.Constant):
            literal += value.value
        else:
            parts.append(literal)
            literal = ""
    return (*parts, literal)


def stands_in(text: str, template: Template) -> bool:
    """Whether a template can print a text: its literal parts in their order, and values of moderate length between them."""
    if any(text in part for part in template):
        return True
    return any(_from(text, template, start, len(text)) for start in range(len(template)))


def _from(text: str, template: Template, start: int, length: int) -> bool:
    """Whether a text begins with an end of one part of a template and goes on with the next ones."""
    first = template[start]
    for cut in range(len(first) + 1):
        if text.startswith(first[cut:]) and (literal := _rest(text[len(first) - cut :], template[start + 1 :])) is not None:
            return (literal + len(first) - cut) / length >= MIN_LITERAL
    return False


def _rest(text: str, parts: Template) -> int | None:
    """How many characters of a text are literal, if a value and these parts in their order can make it; None if they cannot."""
    if not parts:
        return None if text else 0
    best = 0 if len(text) <= MAX_VALUE else None
    for length in range(min(len(text), MAX_VALUE) + 1):
        after = text[length:]
        if parts[0].startswith(after) and after:
            best = max(best or 0, len(after))
        elif parts[0] and after.startswith(parts[0]) and (rest := _rest(after[len(parts[0]) :], parts[1:])) is not None:
            best = max(best or 0, rest + len(parts[0]))
    return best


@cache
def of_other_programs() -> str:
    """What the programs and libraries whose messages the guide quotes print and hold, on one line."""
    texts = [os_trouble(OSError(code, os.strerror(code), "file")) for code in (errno.ENOSPC, errno.EACCES, errno.EROFS)]
    texts += [
        path.read_text(encoding="utf-8")
        for path in (*Path("/usr/lib").glob("python3*/venv/__init__.py"), ROOT / "constraints.txt")
    ]
    texts += [
        path.read_text(encoding="utf-8")
        for folder in ("apps", "converters")
        for path in (Path(nbgrader.__file__).parent / folder).glob("*.py")
    ]
    texts += [
        _says(psycopg.connect, "postgresql://127.0.0.1:9/nothing"),
        _says(_read_as_database),
        _says(_write_unwritable),
        _says(_write_without_room),
    ]
    texts += [
        _printed("bash", "-c", "make; gradaccum"),
        _printed(sys.executable, "-ISc", "import gradaccum"),
    ]
    texts += [_printed(sys.executable, "-c", "function"), _printed(sys.executable, "-Ic", NO_VENV)]
    texts += [(shutil.which("bwrap") and Path(str(shutil.which("bwrap"))).read_bytes().decode("latin-1")) or ""]
    return " ".join(" ".join(texts).split())


NO_VENV = "import runpy, sys; sys.path = []; runpy.run_module('venv')"


def _printed(*command: str) -> str:
    program = shutil.which(command[0]) or command[0]
    return subprocess.run([program, *command[1:]], env={"PATH": "/nowhere"}, capture_output=True, text=True).stderr


def _says(function: Callable[..., object], *arguments: str) -> str:
    with pytest.raises((psycopg.Error, sqlite3.Error)) as raised:
        function(*arguments)
    return str(raised.value)


def _read_as_database() -> None:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(b"no database " * 1000)
        with contextlib.closing(sqlite3.connect(file.name)) as database:
            database.execute("select * from one")


def _write_unwritable() -> None:
    with tempfile.NamedTemporaryFile() as file:
        with contextlib.closing(sqlite3.connect(file.name)) as database:
            database.execute("create table one (number)")
        with contextlib.closing(sqlite3.connect(f"file:{file.name}?mode=ro", uri=True)) as database:
            database.execute("insert into one values (1)")


def _write_without_room() -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("pragma max_page_count = 1")
        database.execute("create table one (number)")


@pytest.mark.slow
@pytest.mark.parametrize("message", quoted_messages())
def test_a_message_that_the_guide_quotes_is_printed_by_the_course_or_by_the_program_it_names(message):
    parts = fragments(message)
    assert parts
    missing = [
        part for part in parts if not any(stands_in(part, one) for one in templates()) and part not in of_other_programs()
    ]
    assert missing == [], "the guide quotes what nothing prints; look up how it reads today"


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("has no student 'ada'", ("", " has no student ", "; give ids as in the roster")),
        ("needs Python 3.11 or newer. Name one", ("gradaccum needs Python ", " or newer. Name one: make")),
        ("is no class (it has no nbgrader_config.py)", ("", " is no class (it has no ", "); make one")),
    ],
)
def test_a_template_prints_a_text_with_values_in_it(text, template):
    assert stands_in(text, template)


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("has no pupil 'ada'", ("", " has no student ", "; give ids as in the roster")),
        ("whatever", ("", "")),
        ("needs Python 3.11 or older. Name one", ("gradaccum needs Python ", " or newer. Name one: make")),
        ("the disk is full", ("the disk is nearly full",)),
    ],
)
def test_a_template_does_not_print_a_text_with_other_words(text, template):
    assert not stands_in(text, template)
