"""What a worker does: mark one submission. A job carries all that this takes, and the result all that was found.

A worker sees neither the class nor its gradebook, and keeps no state except a fork server under a sandbox, ready to mark.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from autograder.contract.devices import pick_device
from autograder.isolation.fork_server_client import shared_fork_server
from autograder.isolation.sandbox import ChildError
from autograder.support.edition import edition

WORKERS_DIED = "workers that had it to mark died, several times"
"""Why a job is given up."""


class WorkersError(Exception):
    """Workers cannot mark. One line: where, and what to do."""


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
    digest = sha256(job.data).hexdigest()
    kept = student_marks(job.student, job.key, seconds, marked.marks, problem, job.seed, damage, digest)
    tracebacks = "\n".join(f"{name}: {fault.traceback}" for name, fault in marked.marks.faults.items())
    return Done(kept.as_json(), nbformat.writes(marked.notebook) + "\n", tracebacks)
