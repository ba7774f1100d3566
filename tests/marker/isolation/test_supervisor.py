"""What becomes of a process that something else than a limit of ours has killed."""

from __future__ import annotations

import pytest

from autograder.marking.marker import mark_file

pytestmark = pytest.mark.slow

MEAN = "def average_gradients(gradients):\n{body}    return sum(gradients) / len(gradients)\n"

ONCE = """
import os, signal
from pathlib import Path

def kill_once(process):
    flag = Path({flag!r})
    if not flag.exists():
        flag.touch()
        os.kill(process, signal.SIGKILL)
"""
"""Stands for the kernel or an operator: kills a process, but only the first time."""


def killed(process: str, flag) -> str:
    return ONCE.format(flag=str(flag)) + MEAN.format(body=f"    kill_once({process})\n")


PARENT_OF_PARENT = "int(Path(f'/proc/{os.getppid()}/stat').read_text().split()[3])"


@pytest.mark.parametrize("process", ["os.getpid()", PARENT_OF_PARENT], ids=["of the submission", "that forks"])
def test_submission_loses_nothing_if_a_process_is_killed_once(write, tmp_path, process):
    assert mark_file(write("00_start_here.py", killed(process, tmp_path / "killed"))).score == 1
    assert (tmp_path / "killed").exists()


def test_submission_loses_nothing_if_its_process_is_killed_once_while_a_cell_runs(write, tmp_path):
    source = ONCE.format(flag=str(tmp_path / "killed")) + "kill_once(os.getpid())\n" + MEAN.format(body="")
    assert mark_file(write("00_start_here.py", source)).score == 1
    assert (tmp_path / "killed").exists()


def test_function_whose_process_is_killed_each_time_is_tried_twice_and_fails(write, tmp_path):
    log = tmp_path / "log"
    body = f"    open({str(log)!r}, 'a').write('x')\n    os.kill(os.getpid(), 9)\n"
    marks = mark_file(write("00_start_here.py", "import os\n" + MEAN.format(body=body)))
    assert marks.score == 0
    assert "SIGKILL" in marks.verdicts[0].failure.message
    assert log.read_text() == "xx"


def test_function_that_crashes_its_process_is_not_tried_again(write, tmp_path):
    log = tmp_path / "log"
    body = f"    open({str(log)!r}, 'a').write('x')\n    os.abort()\n"
    assert mark_file(write("00_start_here.py", "import os\n" + MEAN.format(body=body))).score == 0
    assert log.read_text() == "x"


CHECKPOINT = """
import os, torch
from gradaccum.resuming import put_state, state_of

with open({log!r}, "a") as log:
    log.write("cells ")

IN_MEMORY = []

def save_checkpoint(path, run):
    if not IN_MEMORY:
        with open({log!r}, "a") as log:
            log.write("kept ")
    IN_MEMORY.append(path)
    if not run.window_open:
        torch.save(state_of(run), path + ".new")
        os.replace(path + ".new", path)

def load_checkpoint(path, run):
    if IN_MEMORY:
        with open({log!r}, "a") as log:
            log.write("loaded-where-saved ")
    if os.path.exists(path):
        put_state(run, torch.load(path))
"""


def test_run_is_loaded_in_a_second_process_which_has_run_the_same_cells(write, tmp_path):
    marks = mark_file(write("11_running_it.py", CHECKPOINT.format(log=str(tmp_path / "log"))))
    assert [verdict.score for verdict in marks.verdicts if verdict.exercise == "load_checkpoint"] == [5]
    said = (tmp_path / "log").read_text()
    assert said.count("cells") == 2
    second = said.rpartition("cells")[2]
    assert "loaded-where-saved" not in second.partition("kept ")[0]
    assert "kept " in second  # what was killed while it was saved is saved again after loading
