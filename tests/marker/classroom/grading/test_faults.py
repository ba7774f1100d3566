"""Whatever happens while a class is marked, nothing is lost, nothing is marked twice, and a message says what to do."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from distributed.utils import json_load_robust
from graded_class import GradedClass, ended, wait_for

from autograder.classroom.grading import workers
from autograder.classroom.grading.class_to_mark import ClassToMark

pytestmark = pytest.mark.slow

KILLS = 10

PAUSE = 2
"""Seconds that a submission sleeps where a test has to step in before the next one is marked."""


def finish(course: GradedClass, expected: dict[str, float], before: dict[str, tuple[int, int]]) -> None:
    """Grade once more: then all marks exist, those in ``before`` have not been made again, and no temporary file is left."""
    result = course.grade()
    assert f"{len(expected) - len(before)} marked, {len(before)} unchanged" in result.output
    assert course.scores() == expected
    assert {student: file for student, file in course.marks().items() if student in before} == before
    assert course.unfinished_files() == []
    assert "0 put into the gradebook" in course.grade().output


def test_after_ten_kills_at_random_moments_nothing_is_lost_and_nothing_marked_twice(course):
    expected, moments, seen = course.hand_in_many(KILLS + 1), random.Random(0), {}
    for kill in range(KILLS):
        process = course.fork()
        course.wait_for_marks(process, kill)
        time.sleep(moments.uniform(0, 0.5))
        process.kill()
        process.wait()
        now = course.marks()
        assert {student: now.get(student) for student in seen} == seen
        seen = now
    assert seen
    finish(course, expected, seen)


def test_a_killed_worker_costs_no_marks_and_a_killed_command_leaves_no_process(course):
    expected = course.hand_in_many(5)
    process = course.start("--workers", "2")
    course.wait_for_marks(process, 1)
    command = psutil.Process(process.pid)
    marking_worker(command).kill()
    course.wait_for_marks(process, len(expected))
    assert process.poll() is None
    family = command.children(recursive=True)
    assert len(family) > 2
    process.kill()
    process.wait()
    assert course.marks().keys() == expected.keys()
    wait_for(lambda: not any(map(runs, family)))
    finish(course, expected, course.marks())


def marking_worker(command: psutil.Process) -> psutil.Process:
    """One of the command's workers: a fork of multiprocessing's own fork server."""
    return next(one for one in command.children(recursive=True) if is_of_pool(one) and is_of_pool(one.parent()))


def is_of_pool(process: psutil.Process | None) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):  # that of a submission may end at any moment
        return process is not None and "multiprocessing.forkserver" in " ".join(process.cmdline())
    return False


def runs(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


def test_a_keyboard_interrupt_ends_it_with_a_message_and_the_next_run_goes_on(course):
    expected = course.hand_in_many(4, pause=PAUSE)
    process = course.fork()
    course.wait_for_marks(process, 1)
    process.send_signal(signal.SIGINT)
    result = ended(process)
    assert result.status == 130
    assert "stopped; start it again and it goes on" in result.complaints
    assert "Traceback" not in result.complaints
    finish(course, expected, course.marks())


def test_after_an_interrupt_of_marking_everything_again_it_is_said_how_to_go_on(course):
    course.hand_in_many(3, pause=PAUSE)
    process = course.fork("--again")
    course.wait_for_marks(process, 1)
    process.send_signal(signal.SIGINT)
    words = "stopped; with --again it begins from the start; without --again it marks only what is new"
    assert words in ended(process).complaints


def test_on_a_cluster_workers_share_the_work_of_a_dead_one_and_a_dead_scheduler_is_named(course, tmp_path):
    expected = course.hand_in_many(5, pause=PAUSE)
    with running_cluster(tmp_path, 2) as (address, scheduler, cluster_workers):
        process = course.fork("--scheduler", address)
        course.wait_for_marks(process, 2)
        cluster_workers[0].kill()
        result = ended(process)
        assert result.status == 0, result
        assert "5 marked" in result.output
        assert course.scores() == expected

        expected = course.hand_in_many(9, pause=PAUSE)
        process = course.fork("--scheduler", address)
        course.wait_for_marks(process, 6)
        scheduler.kill()
        result = ended(process)
    assert result.status == 2, result
    assert "the scheduler of dask is gone; what was marked is kept, start grade again" in result.complaints
    assert "Traceback" not in result.complaints
    finish(course, expected, course.marks())


@contextlib.contextmanager
def running_cluster(folder: Path, number: int) -> Iterator[tuple[str, subprocess.Popen, list[subprocess.Popen]]]:
    """A scheduler and workers, started as on a cluster: the scheduler's address, its process and theirs."""
    file, environment = folder / "scheduler.json", os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", str(file)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment, "cwd": folder}
    processes = [subprocess.Popen([*command, "--host", "127.0.0.1", "--no-dashboard"], **quiet)]
    try:
        address = json_load_robust(file, timeout=60)["address"]  # there may be half a file at first
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1"]
        processes += [subprocess.Popen([*worker, "--no-nanny", "--no-dashboard"], **quiet) for _ in range(number)]
        yield address, processes[0], processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_scheduler_that_cannot_be_reached_is_named(course, monkeypatch):
    monkeypatch.setattr(workers, "CONNECT_TIMEOUT", "1s")
    course.hand_in_many(1)
    result = course.do("grade", "--scheduler", "tcp://127.0.0.1:9", status=2)
    assert "no scheduler of dask answers at tcp://127.0.0.1:9" in result.complaints
    assert result.complaints.count("\n") == 1


def test_a_class_that_is_being_graded_is_refused_until_that_has_ended(course):
    course.hand_in_many(1)
    with ClassToMark(course.directory).locked():
        refused = course.grade(status=2)
    assert "is being graded by another process; wait for it, or stop it" in refused.complaints
    assert course.marks() == {}
    course.grade()


def test_a_locked_database_is_named_and_marks_are_kept(course):
    expected = course.hand_in_many(3)
    with sqlite3.connect(course.directory / "gradebook.db", isolation_level=None) as other:
        other.execute("begin immediate")
        result = course.grade("--db", f"sqlite:///{course.directory}/gradebook.db?timeout=0.1", status=1)
        other.execute("rollback")
    kept = "the marks of the submissions of student00, student01, student02 are kept"
    locked = f"{course.directory}/gradebook.db: the gradebook is locked by another program"
    assert f"{kept}, but could not be put into the gradebook ({locked}" in result.complaints
    assert len(course.marks()) == 3
    finish(course, expected, course.marks())


def test_a_database_that_cannot_be_read_is_named_before_anything_is_marked(course):
    course.hand_in_many(1)
    (course.directory / "gradebook.db").write_bytes(b"no database " * 1000)
    result = course.grade(status=2)
    assert f"the gradebook cannot be read: {course.directory}/gradebook.db: file is not a database" in result.complaints
    assert course.marks() == {}


def test_a_database_that_disappears_is_named_and_filled_when_it_is_back(course):
    expected = course.hand_in_many(5, pause=PAUSE)
    backup = (course.directory / "gradebook.db").read_bytes()
    process = course.fork()
    course.wait_for_marks(process, 1)
    (course.directory / "gradebook.db").unlink()
    result = ended(process)
    assert result.status == 1, result
    assert "are kept, but could not be put into the gradebook" in result.complaints
    (course.directory / "gradebook.db").write_bytes(backup)
    finish(course, expected, course.marks())


def test_a_full_disk_is_named_and_marking_goes_on_when_there_is_room(course):
    expected = course.hand_in_many(4)
    marks, saved = course.directory / "marks", course.root / "saved"
    for folder in (marks, saved):
        folder.mkdir()
    room_for_two, keep = f"mount -t tmpfs -o size=100k none '{marks}'", f"cp -r '{marks}/.' '{saved}'"
    where = "grade", "--scheduler", course.scheduler
    result = ended(course.fork_with_mounts(course.directory, *where, before=room_for_two, after=keep))
    assert result.status == 2, result
    assert re.search(r": \S*/marks/\S+: No space left on device; make room there and start again", result.complaints)
    assert len(result.complaints.strip().splitlines()) <= 5  # four about progress, and one
    shutil.copytree(saved, marks, dirs_exist_ok=True)
    before = course.marks()
    assert 0 < len(before) < 4
    finish(course, expected, before)


def test_a_read_only_directory_is_named(course):
    course.hand_in_many(1)
    place = f"'{course.directory}'"
    read_only = f"mount --bind {place} {place}; mount -o remount,bind,ro {place}"
    result = ended(course.fork_with_mounts(course.directory, "grade", before=read_only))
    assert result.status == 2
    trouble = f"{course.directory}/.grading.lock: Read-only file system; mount it for writing, or use a copy elsewhere"
    assert result.complaints == f"gradaccum classroom grade: {trouble}\n"


def test_a_clock_that_jumps_changes_neither_marks_nor_estimates(course, tmp_path):
    expected = course.hand_in_many(4)
    (tmp_path / "sitecustomize.py").write_text(f"MARKS = {str(course.directory / 'marks')!r}{JUMPING_CLOCK}")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    result = ended(course.start("--workers", "1", environment={"PYTHONPATH": path}))
    assert result.status == 0, result
    assert course.scores() == expected
    seconds_left = [float(line.split()[-3]) for line in result.complaints.splitlines()]
    assert len(seconds_left) == 4
    assert all(0 <= seconds < 3600 for seconds in seconds_left)


JUMPING_CLOCK = """
import os, time
real = time.time
def jumping():
    marked = len(os.listdir(MARKS)) if os.path.isdir(MARKS) else 0
    return real() + (0, -86400, 86400, 31 * 86400)[marked % 4]
time.time = jumping
"""
