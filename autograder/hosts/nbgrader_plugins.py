"""The course's plug-ins for nbgrader; the ``nbgrader_config.py`` of a class names these classes.

nbgrader's Autograde first makes a clean copy of each submission ("sanitizing"), then runs that copy and saves what its graded
cells show. Both steps are replaced for notebooks of the course; nbgrader runs any other notebook of the class, in a sandbox. A
third plug-in adds model answers to feedback, if the instructor wants them there, and a fourth says what late work costs.
"""

from __future__ import annotations

import contextlib
import json
import re
from glob import glob
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_output
from nbgrader.converters.base import NbGraderException
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import Execute
from nbgrader.preprocessors.base import NbGraderPreprocessor
from traitlets import Bool, Enum, Float, Integer, Unicode

from autograder.contract.devices import DEVICES
from autograder.isolation.sandbox import BWRAP, SANDBOXES, SandboxError, require_bwrap
from autograder.reading.released_template import template_of, unit_of
from autograder.support.one_line import one_line
from autograder.support.regular_files import LINK, irregular_path, open_regular
from autograder.support.seeds import student_seed

if TYPE_CHECKING:
    from jupyter_client.manager import KernelManager
    from nbformat import NotebookNode
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    from autograder.contract.verdict import Fault


class ReadSubmission(NotebookExporter):
    """Reads what a student handed in, in any state, as the released notebook with the student's answers.

    nbgrader itself would stop at a file it cannot read, and with it the marking of the class; and it copies what links in a
    submission lead to, so submissions with links are left out.

    Raises:
        NbGraderException: there is no sandbox here, or nothing without links. It is raised once, before any old marks are
            touched.
    """

    def __init__(self, config: Config | None = None, **kw: Any):
        super().__init__(config=config, **kw)
        if MarkSubmission(parent=self).sandbox == BWRAP:
            try:
                require_bwrap()
            except SandboxError as error:
                self.log.error("%s", error)
                raise NbGraderException(str(error)) from None
        if self.parent is not None and getattr(self.parent, "_sanitizing", False):
            self._leave_out_links(self.parent.coursedir)

    def _leave_out_links(self, coursedir: CourseDirectory) -> None:
        """Have nbgrader pass over the students of a unit whose submission has a link in it."""
        step, unit = coursedir.submitted_directory, coursedir.assignment_id
        places = sorted(glob(coursedir.format_path(step, coursedir.student_id, unit)))
        links = {place: problem for place in places if (problem := irregular_path(Path(place)))}
        links |= {place: f"{Path(place).parent}: {LINK}" for place in places if Path(place).parent.is_symlink()}
        for problem in links.values():
            self.log.error("%s; not marked", one_line(problem))
        if links and len(links) == len(places):
            raise NbGraderException(one_line("; ".join(links.values())))
        pattern = re.compile(coursedir.format_path(step, "(?P<student>.*)", unit, escape=True))
        students = [found["student"] for place in links if (found := pattern.fullmatch(place))]
        coursedir.student_id_exclude = ",".join(filter(None, [coursedir.student_id_exclude, *students]))

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[NotebookNode, dict[str, Any]]:
        converter, template = self.parent, None
        if converter is not None and resources is not None and getattr(converter, "_sanitizing", False):
            template = template_of(converter.coursedir, resources)
        if template is None:
            return super().from_filename(filename, resources, **kw)
        from nbformat import from_dict

        from autograder.reading.rebuilding import unreadable
        from autograder.reading.submissions import MAX_FILE_BYTES, SubmissionError, parse_submission

        try:
            path = Path(filename).absolute()
            with open_regular(path.parents[2], path.parts[-3:]) as file:
                data = file.read(MAX_FILE_BYTES + 1)
            notebook = parse_submission(Path(filename), data, unit_of(template), template).notebook
        except SubmissionError as error:
            self.log.warning("%s", error)
            notebook = unreadable(from_dict(template), str(error).removeprefix(f"{filename}: "))
        return self.from_notebook_node(notebook, resources, **kw)


class MarkSubmission(Execute):
    """Marks a notebook of the course instead of running it: observed in a sandbox, judged outside of it."""

    sandbox = Enum(SANDBOXES, BWRAP, help="Where submissions run; 'none' only for a class in which you trust every file.").tag(
        config=True
    )
    secret = Unicode(
        "",
        help="Chooses the problems that functions are run on, for every student and unit others. Whoever knows it knows them.",
    ).tag(config=True)
    seed = Integer(0, help="Chooses the same problems for all students; used where there is no secret.").tag(config=True)
    device = Enum(DEVICES, "cpu", help="What to mark on.").tag(config=True)

    def seed_for(self, student: str, unit: str) -> int:
        """The seed that a student's submission to a unit is marked with."""
        return student_seed(self.secret, student, unit) if self.secret else self.seed

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any], km: KernelManager | None = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        unit = unit_of(nb)
        if unit is None:
            if self.sandbox == BWRAP:
                from autograder.hosts.provisioner import install_kernelspec

                self.kernel_name = install_kernelspec()
            return super().preprocess(nb, resources, km)
        from autograder.marking.marked_notebook import mark, nothing_to_mark
        from autograder.marking.marker import shared_marker

        template = template_of(self.parent.parent.coursedir, resources)
        if reason := nb.metadata["gradaccum"].get("unreadable"):
            marked = nothing_to_mark(unit, reason, device=self.device, template=template)
        else:
            marker = shared_marker(self.sandbox, self.device)
            seed = self.seed_for(resources["nbgrader"]["student"], unit)
            marked = mark(json.dumps(nb).encode(), unit, seed=seed, marker=marker, template=template)
        if marked.marks.faults:
            self._leave_unmarked(marked.marks.faults, resources["nbgrader"])
        for verdict in marked.marks.verdicts:
            self.log.info("%s: %g of %g points", verdict.exercise, verdict.score, verdict.max_score)
        return marked.notebook, resources

    def _leave_unmarked(self, faults: dict[str, Fault], place: dict[str, Any]) -> NoReturn:
        """Have nbgrader report an error of this submission alone, and leave nothing in the gradebook that looks like a zero.

        Raises:
            NbGraderException: always; nbgrader goes on with the next submission.
        """
        from nbgrader.api import Gradebook, MissingEntry

        for name, fault in faults.items():
            self.log.error("%s: %s", name, fault.traceback)
        with Gradebook(place["db_url"]) as gradebook, contextlib.suppress(MissingEntry):
            submission = gradebook.find_submission(place["assignment"], place["student"])
            grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
            if all(grade.auto_score is None and grade.manual_score is None for grade in grades):  # nbgrader has just made it
                gradebook.remove_submission(place["assignment"], place["student"])
        failed = ", ".join(f"{name} ({fault.reason})" for name, fault in faults.items())
        raise NbGraderException(f"unmarked: the marker failed on {failed}, not the student; autograde it again")


class ShowModelAnswers(NbGraderPreprocessor):
    """Puts two model answers below each exercise that has earned all its points, on pages of feedback."""

    enabled = Bool(False, help="Whether feedback has model answers to the exercises that a student has solved.").tag(
        config=True
    )

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        from autograder.exercises import exercises_of
        from autograder.publishing.model_answers import model_answers
        from autograder.showing.answers_html import answers_html

        exercises = {exercise.id: exercise for exercise in exercises_of(unit_of(nb) or "")}
        for cell in nb.cells:
            role = cell.metadata.get("nbgrader", {})  # with points and score, which GetGrades has put there
            exercise = exercises.get(role.get("grade_id", ""))
            if exercise and role.get("grade") and float(role["score"]) >= float(role["points"]):
                html = answers_html((answer.shows, answer.source) for answer in model_answers(exercise))
                cell.outputs.append(new_output("display_data", {"text/html": html}))
        return nb, resources


class DeductPerDay(LateSubmissionPlugin):
    """Takes off a share of a unit's points for each day that has begun since it was due."""

    per_day = Float(0, min=0, max=100, help="Percent of the unit's points for each day begun.").tag(config=True)
    at_most = Float(100, min=0, max=100, help="Percent of the unit's points that lateness costs at most.").tag(config=True)
    marked_late = Float(
        0, min=0, max=100, help="Percent where an LMS says that work was late, and not when it was handed in."
    ).tag(config=True)
    grace_minutes = Float(0, min=0, help="Minutes after the due date that cost nothing.").tag(config=True)

    max_points: float | None = None
    """The points that the unit gives; if it is None, they are taken from the gradebook that nbgrader is writing to."""

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        if self.penalty_method == "zero":
            return score
        if total_seconds_late <= 60 * self.grace_minutes:
            return None
        return self._points(min(self.at_most, self.per_day * ceil(total_seconds_late / 86400)))

    def penalty_if_marked_late(self, score: float) -> float:
        """The points taken off if nothing says how late it was."""
        return score if self.penalty_method == "zero" else self._points(self.marked_late)

    def _points(self, percent: float) -> float:
        points = self.max_points
        if points is None:
            step = self.parent  # nbgrader's AssignLatePenalties
            points = step.gradebook.find_submission_notebook(step.notebook_id, step.assignment_id, step.student_id).max_score
        return round(points * percent / 100, 6)
