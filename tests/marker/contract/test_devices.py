"""Which device marks, in which precision it computes, and what a process must not do if its forks use a GPU."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from pretend_device import pretended_cuda

from autograder.contract.cell import Cell
from autograder.contract.devices import full_precision, likely_device
from autograder.exercises import all_exercises, exercises_of
from autograder.isolation import wire, worker
from autograder.isolation.limits import Limits
from autograder.isolation.sandbox import NONE, bwrap_command
from autograder.isolation.visible_modules import packages_folder
from autograder.marking.in_process import device_for, mark_function, trials_of
from autograder.marking.marker import Marker
from autograder.observing.student_calls import seeded
from autograder.reading.submissions import read_submission

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]
SCALE = """
import torch
import torch.distributed as dist

def global_token_scale(local_tokens):
    total = local_tokens.clone()
    dist.all_reduce(total)
    return dist.get_world_size() * local_tokens / total.clamp(min=1)
"""


def precision() -> tuple:
    cudnn = torch.backends.cudnn
    set_for_all = torch.backends.fp32_precision, cudnn.fp32_precision
    return *set_for_all, torch.get_float32_matmul_precision(), cudnn.allow_tf32, cudnn.deterministic, cudnn.benchmark


@pytest.fixture
def low_precision():
    """Settings that a student may have chosen for speed; restored afterwards."""
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.benchmark
    torch.set_float32_matmul_precision("medium")
    torch.backends.cudnn.benchmark = True
    yield
    torch.set_float32_matmul_precision(before[0])
    torch.backends.cudnn.benchmark = before[1]


@pytest.mark.usefixtures("low_precision")
def test_marking_computes_in_full_precision_and_leaves_settings_as_they_were():
    before, inside = precision(), []

    def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        inside.append(precision())
        return []

    mark_function(all_exercises()["train_epoch"], train_epoch)
    assert set(inside) == {("ieee", "ieee", "highest", False, True, False)}
    assert precision() == before


def test_marking_works_with_settings_that_torch_refuses_to_read_as_mixed():
    matmul = torch.backends.cuda.matmul
    before = matmul.fp32_precision
    matmul.fp32_precision = "tf32"  # by the new interface and not by the old one
    try:
        with pytest.raises(RuntimeError, match="mix"):
            torch.backends.cuda.matmul.allow_tf32  # noqa: B018
        with full_precision():
            assert torch.get_float32_matmul_precision() == "highest"
            assert matmul.fp32_precision == "ieee"
    finally:
        matmul.fp32_precision = before


def test_seeding_does_not_initialise_cuda(monkeypatch):
    asked = []
    monkeypatch.setattr(torch._C, "_cuda_getDeviceCount", lambda: asked.append(1) or 0, raising=False)
    with seeded(0):
        pass
    assert not asked
    torch.cuda.is_available()
    assert asked


@pytest.mark.parametrize(("node", "device"), [("nvidia0", "cuda"), ("nvidiactl", "cpu"), ("null", "cpu")])
def test_a_gpu_is_expected_where_the_system_shows_one(node, device, tmp_path, monkeypatch):
    (tmp_path / node).touch()
    monkeypatch.setattr("autograder.contract.devices.Path", lambda place: tmp_path)
    assert likely_device() == device


@pytest.mark.slow
def test_a_fork_server_for_a_gpu_does_not_compute_or_initialise_cuda_itself():
    code = """
import os, torch
from autograder.isolation import worker
asked = []
if {device!r} == "cuda":  # torch then behaves as a build for CUDA
    torch._C._cuda_getDeviceCount = lambda: asked.append("count") or 0
    torch._C._cuda_init = lambda: asked.append("init")
backward = torch.autograd._engine_run_backward
torch.autograd._engine_run_backward = lambda *a, **k: (asked.append("backward"), backward(*a, **k))[1]
worker.get_ready({device!r})
os._exit(7 if asked else 3)
"""
    ends = [subprocess.run([sys.executable, "-c", code.format(device=d)], cwd=ROOT).returncode for d in ("cuda", "cpu")]
    assert ends == [3, 7]  # the one for the CPU runs backward, which shows that the check works


def test_a_fork_server_for_the_cpu_sees_no_gpu(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/driver")
    set_for = {device: settings_in(bwrap_command(packages_folder(), device)) for device in ("cpu", "cuda")}
    assert set_for["cpu"]["CUDA_VISIBLE_DEVICES"] == ""
    assert set_for["cuda"]["CUDA_VISIBLE_DEVICES"] == "1"
    assert set_for["cuda"]["LD_LIBRARY_PATH"] == "/driver"
    assert set_for["cuda"]["PYTORCH_NVML_BASED_CUDA_CHECK"] == "1"


def settings_in(command: list[str]) -> dict[str, str]:
    return {command[k + 1]: command[k + 2] for k, word in enumerate(command) if word == "--setenv"}


@pytest.mark.parametrize(("unit", "device"), [("10_distributed", "cpu"), ("04_training_loop", "cuda")])
def test_units_that_need_the_cpu_are_not_marked_on_a_gpu(unit, device):
    assert device_for(exercises_of(unit), "cuda") == device
    assert device_for(exercises_of(unit), "cpu") == "cpu"


@pytest.fixture
def ranks_file(tmp_path) -> Path:
    path = tmp_path / "10_distributed.py"
    path.write_text(SCALE)
    return path


@pytest.mark.slow
def test_distributed_exercises_are_marked_on_the_cpu_even_if_a_gpu_is_asked_for(ranks_file, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    with Marker(NONE, "cuda") as marker:
        marks = marker.mark(read_submission(ranks_file))
    assert marks.device == "cpu"
    assert {verdict.exercise: verdict.passed for verdict in marks.verdicts}["global_token_scale"]


@pytest.mark.slow
def test_pytest_marks_distributed_exercises_on_the_cpu_even_if_a_gpu_is_asked_for(pytester, ranks_file, monkeypatch):
    shutil.copy(ranks_file, pytester.path)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    chosen = ("--grade", ranks_file.name, "--device", "cuda", "-k", "global_token_scale")
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", *chosen)
    done.assert_outcomes(passed=1, deselected=1)


class _EndedError(Exception):
    """Raised instead of ending the process."""


@pytest.mark.parametrize(("works", "observed"), [(True, 2), (False, 1)])
def test_a_process_whose_gpu_stops_working_leaves_the_remaining_exercises_to_another(works, observed, monkeypatch):
    def end(status: int):
        raise _EndedError(status)

    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(sys, "path", [*sys.path])
    still_computes = worker._still_computes
    monkeypatch.setattr(worker, "_still_computes", lambda device: works and still_computes(device))
    trials = {name: trials_of(all_exercises()[name], 0, "cuda") for name in ("matched_beta", "matched_bn_momentum")}
    asked = worker.Request([Cell("cell", "x = 1")], "07_when_equivalence_breaks", trials, "cuda", Limits())
    ours, theirs = socket.socketpair()
    with ours, theirs, pretended_cuda():
        wire.send(ours, worker.REQUEST, asked.encode())
        with pytest.raises(_EndedError, match="0" if works else "1"):
            worker.serve(theirs)
        theirs.shutdown(socket.SHUT_WR)
        kinds = []
        while True:
            try:
                kinds.append(wire.receive(ours)[0])
            except EOFError:
                break
    assert kinds.count(worker.OBSERVED) == observed
