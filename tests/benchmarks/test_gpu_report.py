"""The script that runs the tests for a GPU and writes down what came of them."""

from __future__ import annotations

import subprocess
import sys

import gpu_report
import pytest
import torch

pytest_plugins = ["pytester"]

TESTS = """
import pytest

def test_passes(record_property):
    record_property("figure", "3 MiB for N=2")

def test_fails():
    assert 0

@pytest.fixture
def broken():
    raise OSError

def test_cannot_begin(broken): ...

@pytest.mark.skip(reason="needs typer")
def test_is_skipped(): ...
"""


def test_results_are_counted_by_file_and_figures_kept(pytester):
    pytester.makepyfile(test_it=TESTS, test_other="def test_passes(): ...")
    results = gpu_report.Results()
    pytester.inline_run("-p", "no:cacheprovider", plugins=[results])
    lines = gpu_report.as_markdown(results, 12.3).splitlines()
    assert lines[2:5] == ["| `test_it.py` | 1 | 2 | 1 | 0 |", "| `test_other.py` | 1 | 0 | 0 | 0 |", "| all | 2 | 2 | 1 | 12 |"]
    assert lines[-1] == "- 3 MiB for N=2"


def test_new_results_replace_those_on_the_page(tmp_path):
    (page := tmp_path / "gpu.md").write_text(gpu_report.PAGE.read_text())
    gpu_report.write("first", page)
    gpu_report.write("second", page)
    before, after = gpu_report.PAGE.read_text(), page.read_text()
    assert after.partition("results:begin")[2].count("second") == 1
    assert "first" not in after.partition("results:begin")[2]
    assert after.partition("<!-- results")[0] == before.partition("<!-- results")[0]
    assert [path.name for path in tmp_path.iterdir()] == ["gpu.md"]


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_gpu_nothing_is_written():
    before = gpu_report.PAGE.read_text()
    done = subprocess.run([sys.executable, gpu_report.__file__, "--write"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "benchmarks/gpu_report.py: needs a CUDA device, and torch finds none here\n"
    assert gpu_report.PAGE.read_text() == before
