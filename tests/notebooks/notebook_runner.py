"""Runs notebooks without a kernel.

python notebook_runner.py NOTEBOOK RESULT runs the code cells and writes to RESULT, as JSON, what became of each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
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


def run_notebook(notebook: Path, folder: Path) -> list[Ran]:
    """Run the notebook in a file, in an empty folder, and return what became of its code cells."""
    from warm_python import warm_python

    own = {"HOME": str(folder), "IPYTHONDIR": str(folder / "ipython"), "GRADACCUM_RESULTS": str(folder / "results.json")}
    command = [*warm_python(), __file__, str(notebook), "ran.json"]
    done = subprocess.run(command, cwd=folder, env=os.environ | own, capture_output=True, text=True)
    assert done.returncode == 0, f"{notebook.name} ended the process it ran in:\n{done.stderr}"
    return [Ran(**cell) for cell in json.loads((folder / "ran.json").read_text(encoding="utf-8"))]


def _run(notebook: dict[str, Any]) -> list[dict[str, str]]:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell, cells = InteractiveShell.instance(), []
    for source in ("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"):
        with shell.display_trap, capture_output() as captured:
            ran = shell.run_cell(source, store_history=True)
        error = ran.error_before_exec or ran.error_in_exec
        displayed = [text for output in captured.outputs for text in (output.data or {}).values() if isinstance(text, str)]
        said = "" if error is None else f"{type(error).__name__}: {error}"
        shown = "\n".join([captured.stdout, *displayed])
        cells.append({"source": source, "error": said, "stderr": captured.stderr, "shown": shown})
    return cells


if __name__ == "__main__":
    given, result = map(Path, sys.argv[1:])
    result.write_text(json.dumps(_run(json.loads(given.read_text(encoding="utf-8")))), encoding="utf-8")
