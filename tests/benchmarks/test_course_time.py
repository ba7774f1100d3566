"""The script that executes the course and writes down how long that takes."""

from __future__ import annotations

import subprocess
import sys

import course_time
import pytest


def test_the_table_has_a_row_for_each_unit_and_one_for_their_sum():
    lines = course_time.as_markdown({"00_start_here": 4.26, "03_accumulate": 10.0}).splitlines()
    assert lines[2:5] == ["| 00 start here | 4.3 |", "| 03 accumulate | 10.0 |", "| together (budget 15 minutes) | 14 |"]
    assert "with `python benchmarks/course_time.py --write`." in lines[-1]


@pytest.mark.slow
def test_an_unknown_unit_is_refused_with_a_list_of_the_known_ones():
    done = subprocess.run([sys.executable, course_time.__file__, "13_more"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "there is no unit '13_more'; there are 00_start_here, 01_batches_and_gradients" in done.stderr
