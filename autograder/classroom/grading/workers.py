"""Many submissions at once: a map over workers of dask.distributed, on this machine or on a cluster that is there.

Workers keep nothing but a warm sandbox. What they need comes with each job, what they find goes back; they see neither the
class nor its gradebook.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from autograder.contract.devices import pick_device
from autograder.isolation.fork_server_client import shared_fork_server
from autograder.isolation.sandbox import ChildError
from autograder.support.edition import edition

AHEAD = 3
"""Jobs handed out for each thread of the workers: enough that none waits for the next, few enough to keep memory small."""

FORKED = "forkserver"


PRELOAD = "autograder.classroom.grading.worker_preload"
"""Imports what every worker needs, which would otherwise take each of them three seconds of a core."""

CONNECT = "10s"
"""How long to look for a scheduler, and how long to look for one that has gone."""


class WorkersError(Exception):
    """No work can be done there. One line: where, and what to do."""


@dataclass(frozen=True)
class Job:
    """One submission to mark, with everything that its marks depend on.

    Attributes:
        student, unit: ids.
        key: stands for all that marks depend on.
        data: what was handed in.
        template: the notebook that was released.
        seed: chooses the hidden problems.
        sandbox, device: see :class:`autograder.marking.marker.Marker`.
        edition: of this package, which a worker must have, too.
    """

    student: str
    unit: str
    key: str
    data: bytes
    template: dict
    seed: int
    sandbox: str
    device: str
    edition: str = field(default_factory=edition)


@dataclass(frozen=True)
class Done:
    """Marks as JSON (see :mod:`autograder.classroom.grading.marks_store`) and the notebook with its verdicts."""

    marks: str
    notebook: str


def mark_job(job: Job) -> Done:
    """Mark a submission; what a worker does.

    Raises:
        ChildError: no process can be started here, or no sandbox, or this is another edition.
    """
    if job.edition != edition():
        raise ChildError(f"a worker has gradaccum {edition()}, not {job.edition}; install the same everywhere")
    shared_fork_server(job.sandbox, pick_device(job.device))  # imports torch while this process does
    import nbformat

    from autograder.classroom.grading.marks_store import student_marks
    from autograder.marking.marked_notebook import mark
    from autograder.marking.marker import shared_marker

    began = time.monotonic()
    marker = shared_marker(job.sandbox, job.device)
    marked = mark(job.data, job.unit, seed=job.seed, marker=marker, template=job.template)
    problem = marked.notebook.metadata.get("gradaccum", {}).get("unreadable", "")
    kept = student_marks(job.student, job.key, round(time.monotonic() - began, 3), marked.marks, problem)
    return Done(kept.as_json(), nbformat.writes(marked.notebook) + "\n")


@contextlib.contextmanager
def workers(scheduler: str = "", number: int = 0, device: str = "cpu") -> Iterator[Workers]:
    """Workers to send jobs to.

    Args:
        scheduler: the address of one that runs, such as ``tcp://host:8786``; by default workers are started here.
        number: how many to start here; by default one for each core, or one for a GPU.
        device: what jobs need: for ``"cuda"`` only workers with the resource ``GPU`` get any.

    Raises:
        WorkersError: the scheduler does not answer.
    """
    import dask
    from distributed import Client, LocalCluster

    for name in ("distributed", "distributed.client"):  # what they have to say is in the exceptions
        logging.getLogger(name).setLevel(logging.CRITICAL)
    own = {"distributed.scheduler.worker-ttl": None, "distributed.comm.timeouts.connect": CONNECT}
    own |= {"distributed.worker.memory.terminate": False}
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(own))
        try:
            if not scheduler:
                stack.enter_context(_imported_once())
                number = number or (1 if device == "cuda" else len(os.sched_getaffinity(0)))
                local = LocalCluster(
                    n_workers=number,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",
                    resources={"GPU": 1} if device == "cuda" else {},
                    silence_logs="CRITICAL",
                )
                scheduler = stack.enter_context(local)
            client = stack.enter_context(Client(scheduler, timeout=CONNECT))
        except (OSError, TimeoutError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise WorkersError(f"no scheduler of dask answers at {scheduler or 'this machine'} ({reason})") from None
        yield Workers(client, {"GPU": 1} if device == "cuda" else {})


@contextlib.contextmanager
def _imported_once() -> Iterator[None]:
    """Within the block workers that are started are forks of one process that has imported what they need, torch above all."""
    import multiprocessing

    import dask
    from distributed.utils import get_mp_context

    if FORKED not in multiprocessing.get_all_start_methods():
        yield
        return
    with dask.config.set({"distributed.worker.multiprocessing-method": FORKED}):
        get_mp_context()  # says, once, what it would have imported, before it is told better
        multiprocessing.set_forkserver_preload([PRELOAD])
        yield


class Workers:
    """Sends jobs to the workers of a scheduler, see :func:`workers`."""

    def __init__(self, client, resources: dict[str, int]):
        self._client, self._resources = client, resources

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Done | Exception]]:
        """Mark all jobs, in any order; of a job that cannot be done, the reason. Jobs are only made when they are wanted.

        A worker that dies takes nothing with it: its jobs go to others. A job with which several died is given up.

        Raises:
            WorkersError: the scheduler is gone, or a worker cannot mark at all.
        """
        from concurrent.futures import CancelledError

        from distributed import as_completed
        from distributed.scheduler import KilledWorker

        waiting, finished, sent = iter(jobs), as_completed(), {}

        def send(number: int) -> None:
            for job in islice(waiting, number):
                future = self._client.submit(mark_job, job, pure=False, resources=self._resources)
                sent[future] = job
                finished.add(future)

        send(AHEAD * max(1, sum(self._client.nthreads().values())))
        for future in finished:
            job = sent.pop(future)
            try:
                done = future.result()
            except KilledWorker:
                done = ChildError("workers that had it to mark died, several times")
            except ChildError as error:
                raise WorkersError(str(error)) from None
            except CancelledError:
                raise WorkersError("the scheduler of dask is gone; what was marked is kept, start grade again") from None
            yield job, done
            send(1)
