"""Run the tests that need a GPU and put device, versions and results into docs/gpu.md.

    python benchmarks/gpu_report.py [--write]

Needs torch, matplotlib and pytest. Exits with pytest's status, and with 2 where there is no GPU; then nothing is written.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import torch
from table import write_figures

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gpu.md"
OUTCOMES = ("passed", "failed", "skipped")


class Results:
    """A pytest plug-in that counts outcomes and seconds by file, and keeps the figures that tests have recorded."""

    def __init__(self):
        self.counts: dict[str, Counter] = defaultdict(Counter)
        self.seconds: Counter = Counter()
        self.figures: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = Path(report.nodeid.partition("::")[0]).name
        self.seconds[file] += report.duration
        if report.when == "call" or report.outcome != "passed":
            self.counts[file][report.outcome] += 1
            self.figures += [str(text) for name, text in report.user_properties if name == "figure"]


def main() -> int:
    """Run, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the results into docs/gpu.md")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("benchmarks/gpu_report.py: needs a CUDA device, and torch finds none here", file=sys.stderr)
        return 2
    results = Results()
    began = time.monotonic()
    os.chdir(ROOT)
    status = pytest.main(["-m", "cuda", "-q"], plugins=[results])
    text = f"{as_markdown(results, time.monotonic() - began)}\n\n{machine()}\n"
    print(text)
    if options.write:
        write(text, PAGE)
    return int(status)


def write(text: str, page: Path) -> None:
    """Put the results into the page, in place of those that are there."""
    write_figures("results", text, page)


def as_markdown(results: Results, whole: float) -> str:
    """A table of outcomes and seconds by file, with the seconds of the whole run, and the figures."""
    lines = [f"| tests | {' | '.join(OUTCOMES)} | seconds |", "|---|---|---|---|---|"]
    for file, counts in sorted(results.counts.items()):
        numbers = " | ".join(str(counts[outcome]) for outcome in OUTCOMES)
        lines.append(f"| `{file}` | {numbers} | {results.seconds[file]:.0f} |")
    total = sum(results.counts.values(), Counter())
    lines.append(f"| all | {' | '.join(str(total[outcome]) for outcome in OUTCOMES)} | {whole:.0f} |")
    return "\n".join([*lines, "", *(f"- {figure}" for figure in results.figures)]).rstrip()


def machine() -> str:
    """Device and versions."""
    where = torch.cuda.get_device_properties(0)
    device = f"{where.name}, {where.total_memory / 2**30:.0f} GiB, compute capability {where.major}.{where.minor}"
    return (
        f"Device: {device}. Driver {driver()}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}, "
        f"torch {torch.__version__}, Python {platform.python_version()}. {time.strftime('%Y-%m-%d', time.gmtime())}, "
        "written by `python benchmarks/gpu_report.py --write`."
    )


def driver() -> str:
    """The version of the GPU's driver, as nvidia-smi says it."""
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


if __name__ == "__main__":
    sys.exit(main())
