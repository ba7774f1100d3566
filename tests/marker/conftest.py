"""Submissions to read and to mark, written to a temporary folder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from plain_notebook import notebook


@pytest.fixture(autouse=True, scope="session")
def _alembic_runs_once():
    """Nbgrader runs alembic, which takes seconds, for each new gradebook, to find out which version its tables have."""
    if find_spec("nbgrader"):
        import nbgrader.api

        nbgrader.api.get_alembic_version = cache(nbgrader.api.get_alembic_version)


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """Write a file into the temporary folder: bytes, text, or a notebook from the sources of its cells."""

    def write(name: str, content: bytes | str | dict | list) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            content = notebook(*content)
        if isinstance(content, dict):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture(scope="session")
def scheduler():
    """The address of a dask scheduler with one worker, whose fork server keeps running after its first job."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs="CRITICAL") as cluster:
        yield cluster.scheduler_address


UNUSABLE: dict[str, tuple[str, bytes | None, str]] = {
    "missing file": ("04_training_loop.ipynb", None, "there is no such file"),
    "empty file": ("04_training_loop.ipynb", b"", "is empty"),
    "blank file": ("04_training_loop.py", b"\xef\xbb\xbf \r\n\n", "is empty"),
    "not JSON": ("04_training_loop.ipynb", b'{"cells": [', "is not JSON"),
    "no list of cells": ("04_training_loop.ipynb", b'{"cells": "\xff\xfe"}', "is JSON, but not a notebook"),
    "cut short": ("04_training_loop.ipynb", json.dumps(notebook("x = 1")).encode()[:25], "is not JSON (see line 1"),
    "a web page": ("04_training_loop.ipynb", b"<!DOCTYPE html>\n<html></html>", "is a web page"),
    "a PDF": ("04_training_loop.ipynb", b"%PDF-1.7\n", "is a PDF"),
    "an archive": ("04_training_loop.ipynb", b"PK\x03\x04" + bytes(30), "is a zip archive"),
    "a picture": ("04_training_loop.ipynb", b"\x89PNG\r\n", "is a picture"),
    "too many cells": ("04_training_loop.ipynb", json.dumps({"cells": [{}] * 2001}).encode(), "has 2001 cells"),
    "a JSON bomb": ("04_training_loop.ipynb", b'{"cells":[' + b"[]," * 2**24 + b"[]]}", "more memory than there is"),
    "endless Python": ("04_training_loop.py", b"x = 1\n" * 400_000, "larger than code that anybody writes"),
    "JSON, not a notebook": ("04_training_loop.ipynb", b'{"name": "x"}', "is JSON, but not a notebook"),
    "a JSON list": ("04_training_loop.ipynb", b"[1, 2]", "is JSON, but not a notebook"),
    "nested too deeply": ("04_training_loop.ipynb", b"[" * 100_000, "is not JSON"),
    "another course": ("week4.ipynb", json.dumps(notebook("x = 1")).encode(), "no unit of this course"),
    "no cells": ("04_training_loop.ipynb", json.dumps(notebook()).encode(), "without code cells"),
    "prose only": (
        "04_training_loop.ipynb",
        json.dumps(notebook() | {"cells": [{"cell_type": "markdown", "metadata": {}, "source": "# Hello"}]}).encode(),
        "without code cells",
    ),
    "broken worksheets": ("04_training_loop.ipynb", b'{"worksheets": 3}', "is JSON, but not a notebook"),
    "a text file": ("notes.txt", b"step after every window\n", "neither a notebook (.ipynb) nor a Python file (.py)"),
    "binary rubbish": ("04_training_loop.ipynb", bytes(range(256)) * 4, "is not JSON"),
    "binary rubbish called Python": ("04_training_loop.py", bytes(range(256)) * 4, "is not text"),
    "Python that is no unit": ("solution.py", b"def train_epoch(): ...\n", "its name is no unit"),
    "a name with a line end": ("a\nb.ipynb", b"{}", "is JSON, but not a notebook"),
}


@pytest.fixture(params=[*UNUSABLE, "a directory", "a pipe", "too large", "a name without end"])
def unusable(request, tmp_path) -> tuple[Path, str]:
    """A path that cannot be marked, and words that the error message must contain."""
    if request.param == "a directory":
        return tmp_path, "is a directory"
    if request.param == "a pipe":
        os.mkfifo(path := tmp_path / "04_training_loop.ipynb")
        return path, "is not a file"
    if request.param == "too large":
        with (path := tmp_path / "04_training_loop.ipynb").open("wb") as file:
            file.seek(2**28)
            file.write(b"{")
        return path, "is larger than the 256 MB"
    if request.param == "a name without end":
        return tmp_path / ("04_training_loop" * 100), "cannot be read"
    name, content, words = UNUSABLE[request.param]
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    return path, words
