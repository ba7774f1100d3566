"""The ways in which files are marked on a GPU: by the command, in a warm process that forks, and by pytest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TRAIN = ROOT / "solutions" / "04_training_loop.py"
RANKS = ROOT / "solutions" / "10_distributed.py"


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=ROOT)


@pytest.fixture
def check():
    for name in ("typer", "safetensors", "psutil"):
        pytest.importorskip(name)
    command = "import sys; from autograder.cli import main; main(sys.argv[1:])"

    def check(*arguments: str) -> dict:
        done = python("-c", command, "check", "--json", *arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return check


def test_the_command_marks_on_the_gpu_in_forks_of_a_warm_process(check):
    (marks,) = check("--device", "cuda", str(TRAIN))["files"]
    assert marks["device"] == "cuda"
    assert marks["score"] == marks["max_score"]


def test_the_command_uses_the_gpu_unasked_and_gives_the_same_marks_as_the_cpu(check):
    there, here = check(str(TRAIN))["files"][0], check("--device", "cpu", str(TRAIN))["files"][0]
    assert (there["device"], here["device"]) == ("cuda", "cpu")
    assert there["exercises"] == here["exercises"]


def test_the_command_marks_several_ranks_on_the_cpu(check):
    (marks,) = check("--device", "cuda", str(RANKS))["files"]
    assert marks["device"] == "cpu"
    assert marks["score"] == marks["max_score"]


BREAKS_THE_GPU = """

def batch_gradient(model, loss_fn, x, y):
    return {"": x[torch.arange(len(x), device=x.device) + 1000]}
"""


def test_an_index_out_of_range_costs_the_exercises_that_run_it_and_no_others(check, tmp_path):
    path = tmp_path / "01_batches_and_gradients.py"
    path.write_text((ROOT / "solutions" / path.name).read_text() + BREAKS_THE_GPU)
    (marks,) = check("--device", "cuda", str(path))["files"]
    assert {one["id"]: one["score"] == one["max_score"] for one in marks["exercises"]} == {
        "batch_gradient": False,
        "average_sample_gradients": False,  # the solution calls batch_gradient
        "sgd_step": True,
    }


def test_pytest_marks_on_the_gpu_and_several_ranks_in_a_process_without_one():
    for name in ("safetensors", "psutil"):
        pytest.importorskip(name)
    done = python("-m", "pytest", *PLUGIN, "--grade", str(TRAIN), "--grade", str(RANKS), "--device", "cuda")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "marked on cuda" in done.stdout


def test_check_uses_the_gpu_unasked():
    code = """
from autograder.check import check
from gradaccum.loops import GALLERY
import torch
train_epoch = GALLERY["no-scale"]
here = str(check(train_epoch, device="cpu"))
assert torch.cuda.max_memory_allocated() == 0
assert str(check(train_epoch)) == here
assert torch.cuda.max_memory_allocated() > 0
"""
    done = python("-c", code)
    assert done.returncode == 0, done.stderr[-3000:]


def is_installed() -> bool:
    from importlib.metadata import entry_points

    return "gradaccum" in {point.name for point in entry_points(group="pytest11")}


PLUGIN = () if is_installed() else ("-p", "autograder.hosts.pytest_plugin")
