"""All measured times in one table, printed or put into docs/figures.md.

    python benchmarks/figures.py [--write]

Exits with status 1 if one is over its budget.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys

import check_latency
import explorable_latency
import import_time
import torch
from table import as_markdown, write_figures


def main() -> int:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/figures.md")
    options = parser.parse_args()
    if os.getloadavg()[0] > 0.5:
        print(f"This machine is busy (load {os.getloadavg()[0]:.1f}): expect times that are too long.", file=sys.stderr)
    rows = [*check_latency.measure(), *explorable_latency.measure(), *import_time.measure()]
    text = f"{as_markdown(rows)}\n\n{machine()}\n"
    print(text)
    if options.write:
        write_figures("figures", text)
    return 0 if all(row.within_budget for row in rows) else 1


def machine() -> str:
    """What the times were measured on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return (
        f"Measured on {cores} {platform.machine()} cores, {gpu}, torch {torch.__version__}, "
        f"Python {platform.python_version()}, with `python benchmarks/figures.py --write`."
    )


if __name__ == "__main__":
    sys.exit(main())
