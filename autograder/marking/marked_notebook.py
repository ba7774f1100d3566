"""Mark the bytes of a notebook: marks, and the notebook with its verdicts in the cells that students look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.contract.observation import Failure
from autograder.exercises import exercises_of
from autograder.isolation.limits import Limits
from autograder.isolation.sandbox import BWRAP
from autograder.marking.marker import Marker, Marks, shared_marker
from autograder.reading.rebuilding import unreadable
from autograder.reading.submissions import Submission, SubmissionError, parse_submission
from autograder.showing.verdict_html import as_html

if TYPE_CHECKING:
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Marked:
    """A submission's marks, and its notebook as it is given back."""

    marks: Marks
    notebook: NotebookNode


def mark(
    data: bytes,
    unit: str,
    *,
    seed: int = 0,
    device: str = "cpu",
    marker: Marker | None = None,
    template: dict | None = None,
    limits: Limits | None = None,
) -> Marked:
    """Mark a notebook. The same bytes, unit, seed and device give the same marks, and any bytes give some marks.

    Args:
        data: what was handed in.
        unit: which unit it answers.
        seed: chooses the problems the functions are run on.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        marker: what runs it; by default the shared one of this process, in a sandbox.
        template: the notebook that was released, as plain data; by default the course's own.
        limits: of what the submission may use.

    Raises:
        ValueError: there is no such unit or device.
        ChildError: no process can be started here, or no sandbox.
    """
    marker = marker or shared_marker(BWRAP, device)
    try:
        submission = parse_submission(Path(f"{unit}.ipynb"), data, unit, template)
    except SubmissionError as error:
        return nothing_to_mark(unit, str(error), device=marker.device, template=template)
    return with_verdicts(submission, marker.mark(submission, seed=seed, limits=limits))


def with_verdicts(submission: Submission, marks: Marks) -> Marked:
    """A submission's notebook with what its cells printed, what went wrong in them, and its verdicts."""
    from nbformat.v4 import new_output

    ids = {cell.name: cell.id for cell in submission.cells}
    reports = {ids[report.cell]: report for report in marks.reports if report.cell in ids}
    notebook = submission.notebook
    assert notebook is not None, "a submission that was handed in as a notebook has one"
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
        if report := reports.get(cell.id):
            for stream, text in (("stdout", report.printed), ("stderr", report.trouble)):
                cell.outputs += [new_output("stream", name=stream, text=text)] if text else []
    _attach(notebook, marks)
    return Marked(marks, notebook)


def nothing_to_mark(unit: str, problem: str, *, device: str = "cpu", template: dict | None = None) -> Marked:
    """What is given back for a file that cannot be read: no points, and the reason.

    Raises:
        ValueError: there is no such unit.
    """
    from nbformat import from_dict

    from autograder.released import released_content

    exercises, template = exercises_of(unit), template or released_content(unit)
    if not exercises or not template:
        raise ValueError(f"there is no unit {unit!r} with exercises")
    failure = Failure("missing", f"Your file cannot be marked. {problem}")
    marks = Marks(f"{unit}.ipynb", unit, device, tuple(exercise.failed(failure) for exercise in exercises))
    notebook = unreadable(from_dict(template), problem)
    _attach(notebook, marks)
    return Marked(marks, notebook)


def _attach(notebook: NotebookNode, marks: Marks) -> None:
    """Put each verdict into the cell that checks its exercise, in the form in which nbgrader reads partial credit."""
    from nbformat.v4 import new_output

    verdicts = {verdict.exercise: verdict for verdict in marks.verdicts}
    if absent := [one.exercise for one in marks.verdicts if one.failure and one.failure.kind == "absent"]:
        notebook.metadata.setdefault("gradaccum", {})["absent"] = absent  # for the page's table of points
    number = 0
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        number += 1
        cell.execution_count = number
        roles = cell.metadata.get("nbgrader", {})
        verdict = verdicts.get(roles.get("grade_id")) or verdicts.get(cell.id)
        if verdict and not roles.get("solution"):
            points, html = roles.get("points", verdict.max_score), as_html(verdict, handed_in=True)
            if verdict.score is None:  # nothing that nbgrader would take for points
                cell.outputs = [new_output("display_data", data={"text/plain": str(verdict), "text/html": html})]
                continue
            score = verdict.score if points == verdict.max_score else round(verdict.score / verdict.max_score * points, 6)
            data = {"text/plain": repr(score), "text/html": html}  # an instructor may give other points than ours
            cell.outputs = [new_output("execute_result", data=data, execution_count=number)]
