"""From a moved control to the new picture, inside the kernel, for every explorable and every setting one move away.

python benchmarks/explorable_latency.py
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Iterator

from table import Row, as_markdown

from gradaccum import phenomena
from gradaccum.notebook.explore import explore


def measure() -> list[Row]:
    """One row per phenomenon."""
    return [_row(name) for name in phenomena.names()]


def _row(name: str) -> Row:
    start = time.perf_counter()
    panel = explore(name)
    first = time.perf_counter() - start
    times = [_seconds(panel, settings) for settings in _walk(panel.settings)]
    return Row(f"explorable *{panel.phenomenon.TITLE}*, control to picture", 0.1, times, first, by_tail=True)


def _walk(opening) -> Iterator:
    """Away from the opening with one control and back again, for every value of every control, twice."""
    for _ in range(2):
        for field in dataclasses.fields(opening):
            for value in phenomena.offered(field).values():
                yield dataclasses.replace(opening, **{field.name: value})
                yield opening


def _seconds(panel, settings) -> float:
    """Until the picture has been sent; the kernel collects garbage after that."""
    sent = []
    panel._picture.observe(lambda change: sent.append(time.perf_counter()), "value")
    start = time.perf_counter()
    panel.set(settings)
    end = time.perf_counter()
    panel._picture.unobserve_all("value")
    if panel.error:
        raise panel.error
    return (sent[0] if sent else end) - start


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(as_markdown(measure()))
