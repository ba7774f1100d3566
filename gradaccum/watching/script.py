"""Watch a script that nobody edits: ``gradaccum watch script.py``."""

from __future__ import annotations

import contextlib
import json
import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from gradaccum.watching.seen import CANNOT_TELL, DUE, NOT_DUE
from gradaccum.watching.watcher import Watcher

EXIT = {DUE: 0, NOT_DUE: 1, CANNOT_TELL: 3}
"""Exit status by outcome; 2 is unusable input. A script that fails has its own."""


def watch_script(
    script: Path, arguments: Sequence[str], *, accumulation_steps: int | None, updates: int | None, as_json: bool
) -> int:
    """Run a script as ``python script.py ARGUMENTS`` would, and print what its updates held; return the exit status.

    With ``as_json``, what the script prints goes to stderr, so that one JSON document is all there is on stdout.

    Raises:
        FileNotFoundError: there is no such script.
    """
    if not script.is_file():
        raise FileNotFoundError(f"{script}: there is no such script")
    argv, path = sys.argv, sys.path[:]
    sys.argv, sys.path[0:0] = [str(script), *arguments], [str(script.resolve().parent)]
    failed = 0
    watcher = Watcher(None, accumulation_steps, updates)
    try:
        with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext(), watcher as seen:
            failed = _run(script)
    finally:
        sys.argv, sys.path[:] = argv, path
    print(json.dumps(seen.as_json()) if as_json else seen)
    if failed:
        print(f"gradaccum watch: {script} ended with status {failed}; the report is of what it did before", file=sys.stderr)
    return failed or EXIT[seen.outcome]


def _run(script: Path) -> int:
    """The exit status of a script. What it raises is printed as Python would."""
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return 130
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
