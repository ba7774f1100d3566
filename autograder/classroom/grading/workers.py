"""Marks many submissions at once, by processes of this machine or by workers of dask.distributed on a cluster."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from autograder.classroom.grading.jobs import WORKERS_DIED, Broken, Done, Job, WorkersError, mark_job
from autograder.classroom.grading.local_workers import LocalWorkers
from autograder.contract.devices import pick_device
from autograder.isolation.sandbox import ChildError

if TYPE_CHECKING:
    from distributed import Client, Future

JOBS_PER_THREAD = 3
"""Jobs sent for each thread of a cluster: enough that none waits for the next, few enough to keep memory small."""

CONNECT_TIMEOUT = "10s"
"""How long to try to reach a scheduler, also after it has disappeared."""

SCHEDULER_GONE = "the scheduler of dask is gone; what was marked is kept, start grade again"


class Workers(Protocol):
    """What marks jobs."""

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Done | Broken]]:
        """Mark all jobs and yield each with its result, in any order, or with the reason why it could not be marked.

        Jobs are taken from the iterable only as fast as workers need them. If a worker dies, its jobs go to others; a job with
        which several workers died is given up.

        Raises:
            WorkersError: a worker cannot mark at all.
        """


def workers(scheduler: str, number: int, most: int, device: str, sandbox: str) -> contextlib.AbstractContextManager[Workers]:
    """Workers for as long as the context lasts.

    Args:
        scheduler: the address of a running scheduler, such as ``tcp://host:8786``; if empty, workers are started here.
        number: how many to start here; if 0, one for each core, or one for a GPU.
        most: how many submissions there are; no more workers than that are started.
        device, sandbox: as in :class:`Job`. On a cluster only workers with the resource ``GPU`` get jobs for ``"cuda"``.

    Raises:
        WorkersError: the scheduler does not answer.
        ChildError: no process or sandbox can be started here.
        ValueError: the device is not here.
    """
    if scheduler:
        return cluster_workers(scheduler, device)
    device = pick_device(device)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1  # only Linux tells
    number = number or (1 if device == "cuda" else cores)
    return LocalWorkers(min(number, most), sandbox, device)


@contextlib.contextmanager
def cluster_workers(scheduler: str, device: str) -> Iterator[ClusterWorkers]:
    """Connect to the workers of a scheduler of dask.

    Raises:
        WorkersError: it does not answer.
    """
    import dask
    from distributed import Client

    for name in ("distributed", "distributed.client", "asyncio"):  # the exceptions say what the logs do
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with dask.config.set({"distributed.comm.timeouts.connect": CONNECT_TIMEOUT}), contextlib.ExitStack() as stack:
        try:
            client = stack.enter_context(Client(scheduler, timeout=CONNECT_TIMEOUT))
        except (OSError, TimeoutError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise WorkersError(f"no scheduler of dask answers at {scheduler} ({reason})") from None
        yield ClusterWorkers(client, {"GPU": 1} if device == "cuda" else {})


class ClusterWorkers:
    """Sends jobs to the workers of a scheduler of dask."""

    def __init__(self, client: Client, resources: dict[str, int]):
        self._client, self._resources = client, resources

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Done | Broken]]:
        """As :meth:`Workers.map`.

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
                result = Broken(WORKERS_DIED)
            except ChildError as error:
                raise WorkersError(str(error)) from None
            except CancelledError:
                raise WorkersError(SCHEDULER_GONE) from None
            yield job, result
            send(1)
