"""What importing our packages costs on top of ``import torch``, each time in a fresh process.

python benchmarks/import_time.py
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from table import Row, as_markdown

RUNS = 5
CODE = "import time, torch; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def measure() -> list[Row]:
    """Seconds over ``import torch`` of the bench's core, and of all that ``check`` needs."""
    bench = "gradaccum, gradaccum.fingerprint, gradaccum.loops, gradaccum.phenomena, gradaccum.recording"
    return [
        _row("`import gradaccum` over `import torch`", bench),
        _row("`autograder.check` as well", f"autograder.check, {bench}"),
    ]


def _row(what: str, modules: str) -> Row:
    return Row(what, 0.1, [_seconds(modules) for _ in range(RUNS)])


def _seconds(modules: str) -> float:
    command = [sys.executable, "-c", CODE.format(modules)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(as_markdown(measure()))
