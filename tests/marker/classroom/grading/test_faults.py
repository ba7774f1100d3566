"""Whatever happens to the marking of a class: nothing is lost, nothing is marked twice, and it is said what to do."""

from __future__ import annotations

import contextlib
import json
import os
import random
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
from graded_class import FULL, UNIT, GradedClass, ended, wait_for

from autograder.classroom.grading import workers

pytestmark = pytest.mark.slow

KILLS = 10
MANY = 16


@pytest.fixture(scope="module")
def released(tmp_path_factory, scheduler):
    return GradedClass(tmp_path_factory.mktemp("released"), scheduler)


@pytest.fixture
def course(released, tmp_path):
    """A class of one's own, released, with nothing handed in."""
    own = object.__new__(GradedClass)
    own.__dict__ |= released.__dict__ | {"root": tmp_path, "directory": tmp_path / "class"}
    shutil.copytree(released.directory, own.directory)
    return own


def finish(course, due: dict[str, float], before: dict[str, tuple[int, int]]) -> None:
    """Start ``grade`` once more: all marks are there, those there before were not made again, nothing else is left."""
    done = course.grade()
    assert f"{len(due) - len(before)} marked, {len(before)} unchanged" in done.said
    assert course.scores() == due
    assert {student: file for student, file in course.marks().items() if student in before} == before
    assert course.left_unfinished() == []
    assert "0 put into the gradebook" in course.grade().said


def test_killed_at_ten_random_moments_it_loses_nothing_and_marks_nothing_twice(course):
    due, moments, seen = course.hand_in_many(MANY), random.Random(0), {}
    for kill in range(KILLS):
        process = course.start()
        course.wait_for_marks(process, kill * MANY // KILLS)
        time.sleep(moments.uniform(0, 0.5))
        process.kill()
        process.wait()
        now = course.marks()
        assert {student: now.get(student) for student in seen} == seen
        seen = now
    assert seen
    finish(course, due, seen)


def test_killed_it_leaves_no_process_behind_and_the_next_one_goes_on(course):
    due = course.hand_in_many(6)
    process = course.start("--workers", "2")
    course.wait_for_marks(process, 1)
    family = psutil.Process(process.pid).children(recursive=True)
    assert len(family) > 2
    process.kill()
    process.wait()
    wait_for(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in family))
    finish(course, due, course.marks())


def test_interrupted_it_ends_with_a_word_and_the_next_one_goes_on(course):
    due = course.hand_in_many(MANY)
    process = course.start()
    course.wait_for_marks(process, 1)
    process.send_signal(signal.SIGINT)
    done = ended(process)
    assert done.status == 130
    assert "stopped; start it again and it goes on" in done.complained
    assert "Traceback" not in done.complained
    finish(course, due, course.marks())


def test_a_worker_that_is_killed_costs_nothing(course):
    due = course.hand_in_many(6)
    process = course.start("--workers", "2")
    course.wait_for_marks(process, 1)
    working(psutil.Process(process.pid)).kill()
    done = ended(process)
    assert done.status == 0, done
    assert "6 marked" in done.said
    assert course.scores() == due


def working(process: psutil.Process) -> psutil.Process:
    """One of the command's workers: what has started a warm parent."""
    family = process.children(recursive=True)
    return next(one.parent() for one in family if is_warm(one) and not is_warm(one.parent()))


def is_warm(process: psutil.Process) -> bool:
    return "autograder.isolation.fork_server" in process.cmdline()


def test_two_workers_of_a_scheduler_started_elsewhere_share_the_work_and_one_may_die(course, tmp_path):
    due = course.hand_in_many(8)
    with running_cluster(tmp_path, 2) as (address, _, both):
        process = course.start("--scheduler", address)
        course.wait_for_marks(process, 2)
        both[0].kill()
        done = ended(process)
    assert done.status == 0, done
    assert "8 marked" in done.said
    assert course.scores() == due


def test_a_scheduler_that_dies_is_named_and_another_one_goes_on(course, tmp_path):
    due = course.hand_in_many(MANY)
    with running_cluster(tmp_path, 1) as (address, dask, _):
        process = course.start("--scheduler", address)
        course.wait_for_marks(process, 1)
        dask.kill()
        done = ended(process)
    assert done.status == 2, done
    assert "the scheduler of dask is gone; what was marked is kept, start grade again" in done.complained
    assert "Traceback" not in done.complained
    finish(course, due, course.marks())


def test_a_scheduler_that_is_not_there_is_named(course, monkeypatch):
    monkeypatch.setattr(workers, "CONNECT_TIMEOUT", "1s")
    course.hand_in_many(1)
    done = course.do("grade", "--scheduler", "tcp://127.0.0.1:9", status=2)
    assert "no scheduler of dask answers at tcp://127.0.0.1:9" in done.complained
    assert done.complained.count("\n") == 1


def test_two_at_once_are_one(course):
    due = course.hand_in_many(4)
    process = course.start()
    wait_for(lambda: (course.directory / ".grading.lock").exists())
    with course_lock_held(course):
        refused = course.grade(status=2)
    assert "is being graded by another process; wait for it, or stop it" in refused.complained
    assert ended(process).status == 0
    assert course.scores() == due


@contextlib.contextmanager
def course_lock_held(course) -> Iterator[None]:
    """Wait until the lock is taken, not only its file made."""
    import fcntl

    def taken() -> bool:
        with open(course.directory / ".grading.lock") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
        return False

    wait_for(taken)
    yield


def test_a_database_that_is_locked_is_named_and_marks_are_kept(course):
    due = course.hand_in_many(3)
    with sqlite3.connect(course.directory / "gradebook.db", isolation_level=None) as other:
        other.execute("begin immediate")
        done = course.grade("--db", f"sqlite:///{course.directory}/gradebook.db?timeout=0.1", status=1)
        other.execute("rollback")
    kept = "the marks of the submissions of student00, student01, student02 are kept"
    assert f"{kept}, but could not be put into the gradebook (database is locked); see to it" in done.complained
    assert len(course.marks()) == 3
    finish(course, due, course.marks())


def test_a_database_that_cannot_be_read_is_named_before_anything_is_marked(course):
    course.hand_in_many(1)
    (course.directory / "gradebook.db").write_bytes(b"no database " * 1000)
    done = course.grade(status=2)
    assert "the gradebook cannot be read: file is not a database" in done.complained
    assert course.marks() == {}


def test_a_database_that_disappears_is_named_and_filled_when_it_is_back(course):
    due = course.hand_in_many(MANY)
    backup = (course.directory / "gradebook.db").read_bytes()
    process = course.start()
    course.wait_for_marks(process, 1)
    (course.directory / "gradebook.db").unlink()
    done = ended(process)
    assert done.status == 1, done
    assert "are kept, but could not be put into the gradebook" in done.complained
    (course.directory / "gradebook.db").write_bytes(backup)
    finish(course, due, course.marks())


MOUNTED = ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private", "sh", "-c"]


def test_a_full_disk_is_named_and_marking_goes_on_when_there_is_room(course):
    due = course.hand_in_many(MANY)
    room, full = course.directory / "marks", course.root / "full"
    for folder in (room, full):
        folder.mkdir()
    script = f'mount -t tmpfs -o size=200k none "{room}" && "$@"; status=$?; cp -r "{room}/." "{full}"; exit $status'
    done = ended(course.start(before=(*MOUNTED, script, "sh")))
    assert done.status == 2, done
    assert "No space left on device; see to it and start grade again, which goes on here" in done.complained
    assert len(done.complained.strip().splitlines()) <= 11  # progress, and one line
    shutil.copytree(full, room, dirs_exist_ok=True)
    before = course.marks()
    assert 0 < len(before) < MANY
    finish(course, due, before)


def test_a_read_only_directory_is_named(course):
    course.hand_in_many(1)
    script = f'mount --bind "{course.directory}" "{course.directory}" && mount -o remount,bind,ro "{course.directory}" && "$@"'
    done = ended(course.start(before=(*MOUNTED, script, "sh")))
    assert done.status == 2
    assert done.complained == f"gradaccum classroom grade: {course.directory}/.grading.lock: Read-only file system\n"


def test_a_clock_that_jumps_changes_nothing(course, tmp_path):
    due = course.hand_in_many(4)
    (tmp_path / "sitecustomize.py").write_text(f"MARKS = {str(course.directory / 'marks')!r}{JUMPING}")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = ended(course.start("--workers", "1", environment={"PYTHONPATH": path}))
    assert done.status == 0, done
    assert course.scores() == due
    left = [float(line.split()[-3]) for line in done.complained.splitlines()]
    assert len(left) == 4
    assert all(0 <= seconds < 3600 for seconds in left)


JUMPING = """
import os, time
real = time.time
def jumping():
    marked = len(os.listdir(MARKS)) if os.path.isdir(MARKS) else 0
    return real() + (0, -86400, 86400, 31 * 86400)[marked % 4]
time.time = jumping
"""


@contextlib.contextmanager
def running_cluster(folder: Path, number: int) -> Iterator[tuple[str, subprocess.Popen, list[subprocess.Popen]]]:
    """A scheduler and workers as one starts them on a cluster: its address, its process and theirs."""
    file, environment = folder / "scheduler.json", os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", str(file)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment, "cwd": folder}
    processes = [subprocess.Popen([*command, "--host", "127.0.0.1", "--no-dashboard"], **quiet)]
    try:
        wait_for(file.exists)
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1"]
        processes += [subprocess.Popen([*worker, "--no-nanny", "--no-dashboard"], **quiet) for _ in range(number)]
        yield json.loads(file.read_text())["address"], processes[0], processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_the_tests_class_marks_as_it_should(course):
    assert set(course.hand_in_many(3).values()) == {0.0, FULL}
    assert course.grade().status == 0
    assert course.marks().keys() == course.scores().keys()
    assert (course.directory / "autograded" / "student00" / UNIT / f"{UNIT}.ipynb").exists()
