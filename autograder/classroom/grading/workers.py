"""Marks many submissions at once, by workers of dask.distributed on this machine or on an existing cluster.

Workers keep no state except a fork server under a sandbox, ready to mark. Each job carries everything they need, and the result
carries everything they found; they see neither the class nor its gradebook.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from autograder.contract.devices import pick_device
from autograder.isolation.fork_server_client import shared_fork_server
from autograder.isolation.sandbox import ChildError
from autograder.support.edition import edition

if TYPE_CHECKING:
    from distributed import Client, Future

JOBS_PER_THREAD = 3
"""Jobs sent for each thread of the workers: enough that none waits for the next, few enough to keep memory small."""

START_METHOD = "forkserver"

PRELOAD = "autograder.classroom.grading.worker_preload"
"""Imports the modules that every worker needs. That takes three seconds of a core, so it is done once for all workers."""

CONNECT_TIMEOUT = "10s"
"""How long to try to reach a scheduler, also after it has disappeared."""


SCHEDULER_GONE = "the scheduler of dask is gone; what was marked is kept, start grade again"


class WorkersError(Exception):
    """The scheduler or its workers cannot mark. One line: where, and what to do."""


@dataclass(frozen=True)
class Job:
    """One submission to mark, with everything that its marks depend on.

    Attributes:
        student, unit: ids.
        key: a digest of everything that the marks depend on.
        data: the bytes that were handed in.
        template: the notebook that was released, as plain data; None if it is not a unit of the course.
        seed: chooses the hidden problems of this submission.
        sandbox, device: see :class:`autograder.marking.marker.Marker`.
        edition: version and source digest of this package; a worker must have the same.
    """

    student: str
    unit: str
    key: str
    data: bytes
    template: dict[str, Any] | None
    seed: int
    sandbox: str
    device: str
    edition: str = field(default_factory=edition)


@dataclass(frozen=True)
class Done:
    """What a worker made of a submission.

    Attributes:
        marks: as JSON, see :mod:`autograder.classroom.grading.marks_store`.
        notebook: the text of the notebook with its verdicts.
        tracebacks: of faults of the marker; exercises with one are unmarked.
    """

    marks: str
    notebook: str
    tracebacks: str = ""


@dataclass(frozen=True)
class Broken:
    """The marker failed on a whole submission: why, in a line, and the traceback."""

    reason: str
    traceback: str = ""


def mark_job(job: Job) -> Done | Broken:
    """Mark a submission. Runs in a worker.

    Raises:
        ChildError: no process or sandbox can be started here, or this package differs from the one that made the job.
    """
    if job.edition != edition():
        raise ChildError(f"a worker has gradaccum {edition()}, not {job.edition}; install the same everywhere")
    shared_fork_server(job.sandbox, pick_device(job.device))  # it imports torch while this process does the same
    try:
        return _marked(job)
    except ChildError:
        raise
    except Exception as error:
        from autograder.marking.faults import fault_of

        fault = fault_of(error)
        return Broken(f"the marker failed ({fault.reason})", fault.traceback)


def _marked(job: Job) -> Done:
    import nbformat

    from autograder.classroom.grading.marks_store import student_marks
    from autograder.marking.marked_notebook import mark
    from autograder.marking.marker import shared_marker

    began = time.monotonic()
    marker = shared_marker(job.sandbox, job.device)
    marked = mark(job.data, job.unit, seed=job.seed, marker=marker, template=job.template)
    file = marked.notebook.metadata.get("gradaccum", {})
    problem, damage = file.get("unreadable", ""), file.get("damaged", "")
    seconds = round(time.monotonic() - began, 3)
    kept = student_marks(job.student, job.key, seconds, marked.marks, problem, job.seed, damage)
    tracebacks = "\n".join(f"{name}: {fault.traceback}" for name, fault in marked.marks.faults.items())
    return Done(kept.as_json(), nbformat.writes(marked.notebook) + "\n", tracebacks)


@contextlib.contextmanager
def workers(scheduler: str = "", number: int = 0, device: str = "cpu") -> Iterator[Workers]:
    """Start workers, or connect to those of a scheduler, for as long as the context lasts.

    Args:
        scheduler: the address of a running scheduler, such as ``tcp://host:8786``; by default workers are started here.
        number: how many to start here; by default one for each core, or one for a GPU.
        device: on which jobs are marked: for ``"cuda"`` only workers with the resource ``GPU`` get any.

    Raises:
        WorkersError: the scheduler does not answer.
    """
    import dask
    from distributed import Client, LocalCluster

    for name in ("distributed", "distributed.client", "asyncio"):  # the exceptions say what the logs do
        logging.getLogger(name).setLevel(logging.CRITICAL)
    settings = {
        "distributed.scheduler.worker-ttl": None,
        "distributed.comm.timeouts.connect": CONNECT_TIMEOUT,
        "distributed.worker.memory.terminate": False,
    }
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(settings))
        try:
            if not scheduler:
                stack.enter_context(_forked_workers())
                number = number or (1 if device == "cuda" else len(os.sched_getaffinity(0)))
                local = LocalCluster(
                    n_workers=number,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",
                    resources={"GPU": 1} if device == "cuda" else {},
                    silence_logs="CRITICAL",
                )
                scheduler = stack.enter_context(local)
            client = stack.enter_context(Client(scheduler, timeout=CONNECT_TIMEOUT))
        except (OSError, TimeoutError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise WorkersError(f"no scheduler of dask answers at {scheduler or 'this machine'} ({reason})") from None
        yield Workers(client, {"GPU": 1} if device == "cuda" else {})


@contextlib.contextmanager
def _forked_workers() -> Iterator[None]:
    """Make workers started in this context forks of one process that has imported :data:`PRELOADED`, torch above all."""
    import multiprocessing

    import dask
    from distributed.utils import get_mp_context

    if START_METHOD not in multiprocessing.get_all_start_methods():
        yield
        return
    with dask.config.set({"distributed.worker.multiprocessing-method": START_METHOD}):
        get_mp_context()  # on its first call it sets a list of its own, which the next line replaces
        multiprocessing.set_forkserver_preload([PRELOAD])
        yield


class Workers:
    """Sends jobs to the workers of a scheduler, see :func:`workers`."""

    def __init__(self, client: Client, resources: dict[str, int]):
        self._client, self._resources = client, resources

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Done | Broken]]:
        """Mark all jobs and yield each with its result, in any order, or with the reason why it could not be marked.

        Jobs are taken from the iterable only as fast as workers need them. If a worker dies, its jobs go to others; a job with
        which several workers died is given up.

        Raises:
            WorkersError: the scheduler is gone, or a worker cannot mark at all.
        """
        from concurrent.futures import CancelledError

        from distributed import as_completed
        from distributed.client import ClosedClientError
        from distributed.scheduler import KilledWorker

        waiting, finished = iter(jobs), as_completed()
        sent: dict[Future, Job] = {}

        def send(number: int) -> None:
            for job in islice(waiting, number):
                try:
                    future = self._client.submit(mark_job, job, pure=False, resources=self._resources)
                except ClosedClientError:
                    raise WorkersError(SCHEDULER_GONE) from None
                sent[future] = job
                finished.add(future)

        send(JOBS_PER_THREAD * max(1, sum(self._client.nthreads().values())))
        for future in finished:
            job = sent.pop(future)
            result: Done | Broken
            try:
                result = future.result()
            except KilledWorker:
                result = Broken("workers that had it to mark died, several times")
            except ChildError as error:
                raise WorkersError(str(error)) from None
            except CancelledError:
                raise WorkersError(SCHEDULER_GONE) from None
            yield job, result
            send(1)
