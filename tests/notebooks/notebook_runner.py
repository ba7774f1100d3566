"""Runs notebooks without a kernel, each in a fork of a process that has imported what they all import.

python notebook_runner.py

For each line ``NOTEBOOK<tab>FOLDER<tab>RESULT`` on its standard input it runs the code cells in FOLDER and writes to RESULT, as
JSON, what became of each; then it prints the exit status of the fork.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Ran:
    """What became of a code cell.

    Attributes:
        source: its code.
        error: what it raised, or an empty string.
        stderr: what it wrote there.
        shown: what it printed and displayed, as text and as HTML.
    """

    source: str
    error: str
    stderr: str
    shown: str


@contextmanager
def notebook_runner() -> Iterator[Callable[[Path, Path], list[Ran]]]:
    """A function that runs the notebook in a file, in an empty folder, and returns what became of its code cells."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}  # threads that wait for each other make small experiments slow
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    runner = subprocess.Popen([sys.executable, __file__], env=environment, text=True, **pipes)
    assert runner.stdin
    assert runner.stdout

    def run(notebook: Path, folder: Path) -> list[Ran]:
        result = folder / "ran.json"
        runner.stdin.write(f"{notebook}\t{folder}\t{result}\n")
        runner.stdin.flush()
        status = int(runner.stdout.readline())
        assert status == 0, f"{notebook.name} ended the process it ran in, with status {status}"
        return [Ran(**cell) for cell in json.loads(result.read_text(encoding="utf-8"))]

    try:
        yield run
    finally:
        runner.communicate(timeout=60)


def _serve() -> None:
    import ipywidgets  # noqa: F401 - once for all notebooks, as the next ones
    import matplotlib.figure  # noqa: F401
    import torch  # noqa: F401
    from IPython.core.interactiveshell import InteractiveShell  # noqa: F401

    for line in sys.stdin:
        notebook, folder, result = line.rstrip("\n").split("\t")
        if child := os.fork():
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
            continue
        status = 1
        try:
            os.chdir(folder)
            os.environ |= {"HOME": folder, "IPYTHONDIR": f"{folder}/ipython", "GRADACCUM_RESULTS": f"{folder}/results.json"}
            sources = ["".join(cell["source"]) for cell in _cells(notebook) if cell["cell_type"] == "code"]
            Path(result).write_text(json.dumps(_run(sources)), encoding="utf-8")
            status = 0
        finally:
            sys.stderr.flush()
            os._exit(status)


def _cells(notebook: str) -> list[dict[str, Any]]:
    return json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]


def _run(sources: list[str]) -> list[dict[str, str]]:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell, cells = InteractiveShell.instance(), []
    for source in sources:
        with shell.display_trap, capture_output() as captured:
            ran = shell.run_cell(source, store_history=True)
        error = ran.error_before_exec or ran.error_in_exec
        displayed = [text for output in captured.outputs for text in (output.data or {}).values() if isinstance(text, str)]
        said = "" if error is None else f"{type(error).__name__}: {error}"
        shown = "\n".join([captured.stdout, *displayed])
        cells.append({"source": source, "error": said, "stderr": captured.stderr, "shown": shown})
    return cells


if __name__ == "__main__":
    _serve()
