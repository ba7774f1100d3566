"""Marks many submissions at once, by processes of this machine. Each one judges; what they run shares one sandbox."""

from __future__ import annotations

import multiprocessing
import os
import socket
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from queue import SimpleQueue

from autograder.classroom.grading.jobs import WORKERS_DIED, Broken, Done, Job, WorkersError, mark_job
from autograder.isolation.fork_server_client import ForkServer, use_fork_server
from autograder.isolation.sandbox import ChildError

PRELOAD = "autograder.classroom.grading.worker_preload"
"""Imports the modules that every worker needs. That takes three seconds of a core, so it is done once for all workers."""

JOBS_PER_WORKER = 2
"""Jobs that a worker has at a time: while the result of one is recorded, it marks the other."""

MAX_DEATHS = 3
"""Workers that may die with a job before it is given up."""


@dataclass(eq=False)
class _Worker:
    """A process that marks, and its jobs in the order in which it marks them."""

    process: BaseProcess
    pipe: Connection
    jobs: deque[Job] = field(default_factory=deque)

    def send(self, job: Job) -> None:
        self.jobs.append(job)
        try:
            self.pipe.send(job)
        except OSError:
            pass  # it has died, which is noticed when its results are read

    def close(self) -> None:
        """End it at once: it has nothing to put in order."""
        self.pipe.close()
        self.process.kill()
        self.process.join()


class LocalWorkers:
    """Processes that mark jobs for as long as the context lasts, see :class:`autograder.classroom.grading.workers.Workers`.

    Args:
        number: of processes.
        sandbox, device: of all jobs.

    Raises:
        ChildError: no process can be started here, or no sandbox.
    """

    def __init__(self, number: int, sandbox: str, device: str):
        self._number, self._sandbox, self._device = number, sandbox, device
        self._fork_server = ForkServer(sandbox, device, many=number > 1)
        self._context = _context()
        self._workers: list[_Worker] = []

    def __enter__(self) -> LocalWorkers:
        self._fork_server.launch()  # it imports torch while the workers do the same
        self._workers = [self._start() for _ in range(self._number)]
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._workers:
            worker.close()
        self._fork_server.close()

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Done | Broken]]:
        """Mark all jobs and yield each with its result.

        Raises:
            WorkersError: a worker cannot mark at all.
        """
        waiting, deaths = iter(jobs), Counter[tuple[str, str]]()
        for _ in range(JOBS_PER_WORKER):
            for worker in self._workers:
                _send_next(worker, waiting)
        while busy := {worker.pipe: worker for worker in self._workers if worker.jobs}:
            for pipe in wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index] # mypy thinks of everything one can wait for
                try:
                    result = worker.pipe.recv()
                except (EOFError, OSError):
                    job, result = worker.jobs.popleft(), Broken(WORKERS_DIED)
                    deaths[job.student, job.unit] += 1
                    given_up = deaths[job.student, job.unit] == MAX_DEATHS
                    worker = self._replace(worker, [*worker.jobs] if given_up else [job, *worker.jobs])
                    if not given_up:
                        continue
                else:
                    job = worker.jobs.popleft()
                if isinstance(result, ChildError):
                    raise WorkersError(str(result))
                _send_next(worker, waiting)
                yield job, result

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        with theirs, self._fork_server.another() as control:
            process = self._context.Process(target=_work, args=(theirs, control, self._sandbox, self._device), daemon=True)
            process.start()
        return _Worker(process, ours)

    def _replace(self, dead: _Worker, jobs: Iterable[Job]) -> _Worker:
        """Start a worker in place of one that has died, with these jobs, and return it."""
        dead.close()
        new = self._workers[self._workers.index(dead)] = self._start()
        for job in jobs:
            new.send(job)
        return new


def _send_next(worker: _Worker, waiting: Iterator[Job]) -> None:
    if job := next(waiting, None):
        worker.send(job)


def _context() -> ForkServerContext:
    """Starts processes as forks of one that has imported :data:`PRELOAD`, torch above all.

    That one must not look for modules in the folder that the command was given in: a folder that is called gradaccum, as that
    of a clone is, would hide the package.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([PRELOAD])
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        forkserver.ensure_running()
    finally:
        del os.environ["PYTHONSAFEPATH"]
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before
    return context


def _work(pipe: Connection, control: socket.socket, sandbox: str, device: str) -> None:
    """In a worker: mark jobs until the other side hangs up."""
    os.setsid()  # Ctrl-C is for the command alone
    use_fork_server(sandbox, device, control)
    jobs: SimpleQueue[Job] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, jobs), daemon=True).start()
    while True:
        try:
            result: Done | Broken | ChildError = mark_job(jobs.get())
        except ChildError as error:
            result = ChildError(str(error))
        try:
            pipe.send(result)
        except OSError:
            return  # the command has gone


def _receive(pipe: Connection, jobs: SimpleQueue[Job]) -> None:
    """Take jobs as soon as they arrive, so that nobody waits to send one, and end the process with its command."""
    try:
        while True:
            jobs.put(pipe.recv())
    finally:
        os._exit(0)
