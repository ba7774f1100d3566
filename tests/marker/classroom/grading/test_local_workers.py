"""Processes of this machine that mark: all jobs get a result, whatever happens to the process that has one."""

from __future__ import annotations

import multiprocessing
import os
import socket
import subprocess
import sys

import pytest

from autograder.classroom.grading import local_workers
from autograder.classroom.grading.jobs import WORKERS_DIED, Broken, Done, Job, WorkersError
from autograder.classroom.grading.local_workers import LocalWorkers
from autograder.classroom.grading.workers import workers
from autograder.isolation.sandbox import ChildError


class NoForkServer:
    """In place of a fork server, for jobs that need none."""

    def __init__(self, sandbox: str, device: str, many: bool):
        pass

    def launch(self) -> None:
        pass

    def another(self) -> socket.socket:
        return socket.socketpair()[0]

    def close(self) -> None:
        pass


def do_as_told(job: Job) -> Done:
    """In place of marking: what the job's bytes say."""
    if job.data == b"die":
        os._exit(1)
    if job.data == b"no sandbox":
        raise ChildError("there is no sandbox")
    return Done(job.student, "n" * 10**6)


@pytest.fixture(autouse=True)
def jobs_without_marking(monkeypatch):
    monkeypatch.setattr(local_workers, "ForkServer", NoForkServer)
    monkeypatch.setattr(local_workers, "mark_job", do_as_told)
    monkeypatch.setattr(local_workers, "_context", lambda: multiprocessing.get_context("fork"))


def results(told: dict[str, bytes], number: int = 2) -> dict[str, Done | Broken]:
    """The results of jobs by student, marked by so many workers."""
    jobs = [Job(student, "03_accumulate", "", data, None, 0, "none", "cpu") for student, data in told.items()]
    with LocalWorkers(number, "none", "cpu") as marking:
        return {job.student: result for job, result in marking.map(jobs)}


@pytest.mark.parametrize("number", [1, 3])
def test_every_job_is_marked_once_however_large_it_and_its_result_are(number):
    told = {f"student{k}": b"x" * 10**6 for k in range(10)}
    found = results(told, number)
    assert {student: result.marks for student, result in found.items()} == {student: student for student in told}


@pytest.mark.slow
@pytest.mark.parametrize("deadly", [1, 5])
def test_jobs_with_which_workers_die_are_given_up_and_all_others_are_marked(deadly):
    given_up = {f"deadly{k}": b"die" for k in range(deadly)}
    found = results({"before": b"", **given_up, **{f"after{k}": b"" for k in range(5)}})
    assert [found.pop(student) for student in given_up] == [Broken(WORKERS_DIED)] * deadly
    assert {student: result.marks for student, result in found.items()} == {student: student for student in found}
    assert len(found) == 6


@pytest.mark.parametrize(("number", "submissions", "started"), [(0, 1, 1), (3, 2, 2), (2, 5, 2)])
def test_no_more_workers_are_started_than_there_are_submissions(number, submissions, started):
    with workers("", number, submissions, "cpu", "none") as found:
        assert len(found._workers) == started


def test_a_worker_that_can_start_no_process_ends_it_with_the_reason():
    with pytest.raises(WorkersError, match="there is no sandbox"):
        results({"one": b"", "other": b"no sandbox"})


def test_workers_end_with_the_command():
    with LocalWorkers(2, "none", "cpu") as marking:
        processes = [worker.process for worker in marking._workers]
        assert all(process.is_alive() for process in processes)
    assert not any(process.is_alive() for process in processes)


def test_a_worker_whose_command_has_gone_ends_without_a_traceback(monkeypatch, capfd):
    job = Job("ada", "03_accumulate", "", b"", None, 0, "none", "cpu")
    monkeypatch.setattr(local_workers, "_receive", lambda pipe, jobs: jobs.put(job))  # notices nothing
    ours, theirs = multiprocessing.Pipe()
    ours.close()
    arguments = theirs, socket.socketpair()[0], "none", "cpu"
    worker = multiprocessing.get_context("fork").Process(target=local_workers._work, args=arguments)
    worker.start()
    worker.join(60)
    assert (worker.exitcode, capfd.readouterr().err) == (0, "")


SCRIPT = """
from autograder.classroom.grading.local_workers import _context
if __name__ == "__main__":
    with _context().Pool(1) as pool:
        print(pool.apply(eval, ("__import__('gradaccum').__file__",)))
"""


@pytest.mark.slow
def test_workers_find_the_package_where_a_folder_has_its_name(tmp_path):
    (tmp_path / "gradaccum").mkdir()
    (tmp_path / "scripts").mkdir()
    (script := tmp_path / "scripts" / "find.py").write_text(SCRIPT)
    found = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert found.stdout.strip().endswith("__init__.py"), found.stdout + found.stderr
