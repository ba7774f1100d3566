"""Feedback for students: a page for each submission, made by nbgrader, and a zip of them that Moodle and Canvas accept."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.converters import GenerateFeedback
from traitlets.config import Config

from autograder.classroom.course import step_folder
from autograder.classroom.gradebook.nbgrader_converters import ConvertingError, KeepsCause, convert, quiet_log
from autograder.classroom.grading.class_to_mark import ClassToMark
from autograder.classroom.intake.attempts import Attempt
from autograder.classroom.intake.collect_submissions import newest_attempts
from autograder.classroom.returning import page_markdown
from autograder.classroom.returning.decided_notes import Decisions, ShowDecisions, read_decisions
from autograder.support.atomic_files import written_atomically
from autograder.support.interrupts import stoppable
from autograder.support.one_line import one_line

TEMPLATES, TEMPLATE = Path(__file__).parent / "templates", "gradaccum_feedback"
MAX_NAMED = 5
"""Submissions that a complaint names; the others it only counts."""


@dataclass(frozen=True)
class Page:
    """A student's marked notebook as a page that opens in any browser.

    Attributes:
        student, unit: ids.
        path: of the page.
        name_in_zip: the name of the page in a zip for the LMS.
    """

    student: str
    unit: str
    path: Path
    name_in_zip: str


@dataclass
class Feedback:
    """Pages for students.

    Attributes:
        pages: those that were made.
        complaints: why pages could not be made that should have been, a line each.
        remarks: what else an instructor should know, likewise.
    """

    pages: list[Page] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class _Generate(KeepsCause, GenerateFeedback):
    """Makes a page with the template that the class's configuration names, or else with ours."""

    def __init__(self, decisions: Decisions, **kwargs: Any):
        super().__init__(**kwargs)
        self.decisions = decisions
        self.preprocessors: list[Any] = [*self.preprocessors, ShowDecisions]
        chosen = kwargs["config"].HTMLExporter
        if "template_name" not in chosen and "extra_template_basedirs" not in chosen:
            ours, theirs = Config(), self.config.HTMLExporter
            ours.HTMLExporter.template_name = TEMPLATE
            ours.HTMLExporter.filters = {"markdown2html": f"{page_markdown.__name__}.markdown_with_mathml"}
            ours.HTMLExporter.extra_template_basedirs = [str(TEMPLATES)]
            ours.HTMLExporter.extra_template_paths = [*theirs.extra_template_paths, *theirs.extra_template_basedirs]
            self.update_config(ours)


def make_pages(
    marked_class: ClassToMark,
    units: Sequence[str],
    students: Sequence[str],
    source: Path | None,
    progress: Callable[[int, str, str], AbstractContextManager[Callable[[], None]]],
) -> Feedback:
    """Make pages of the graded submissions, with the points and comments that are in the gradebook now.

    Args:
        marked_class: the class. Its configuration may choose another template, as nbgrader documents.
        units: only these.
        students: only these; all if empty.
        source: a folder or zip that an LMS made: only the submissions in it get pages, named as that LMS expects. All if None.
        progress: shows progress, see :func:`autograder.classroom.grading.terminal_output.progress`.

    Raises:
        SourceError: the source cannot be used.
        NoGradebookError: the gradebook cannot be used.
    """
    feedback = Feedback()
    attempts: dict[tuple[str, str], Attempt] = {}
    graded = [one for one in _graded(marked_class, units) if not students or one[0] in students]
    replaced = marked_class.replaced(marked_class.handed_in(units, students)[0])
    graded = [one for one in graded if one not in replaced]
    if source is not None:
        unit = units[0] if len(units) == 1 else None
        attempts, unrecognised = newest_attempts(marked_class.directory, source, unit, marked_class.coursedir.db_url)
        feedback.complaints += [f"{source}: {file}" for file in unrecognised if file.notebook]
        feedback.remarks += [f"{source}: {file}" for file in unrecognised if not file.notebook]  # there is nothing to show
        marked = set(marked_class.store.submissions()) - replaced
        feedback.complaints += _not_graded(attempts, {*graded, *marked}, units, students)
        if attempts and not any(one in units for _, one in attempts):
            there = ", ".join(sorted({one for _, one in attempts}))
            feedback.complaints.append(f"{source}: holds nothing of {', '.join(units)}, but of {there}")
    else:
        feedback.complaints += _not_graded(replaced, graded, units, students)
    feedback.complaints += _lost(marked_class, {*graded, *replaced}, units, students, attempts if source else None)
    graded = [one for one in graded if source is None or one in attempts]
    decisions = read_decisions(marked_class, graded) if graded else Decisions()
    feedback.remarks += decisions.remarks
    with stoppable() as stop_if_asked, progress(len(graded), "making pages", "made") as step:
        for student, unit in graded:
            try:
                path = _make_page(marked_class, student, unit, decisions)
                feedback.pages.append(Page(student, unit, path, _name_in_zip(student, unit, attempts.get((student, unit)))))
            except ConvertingError as error:
                feedback.complaints.append(f"{student}, {unit}: {error}; there is no page, grade it again")
            step()
            stop_if_asked()
    return feedback


def pack(feedback: Feedback, to: Path) -> Path:
    """Write the pages into a zip.

    Returns:
        The path of the zip, which is ``to``.

    Raises:
        OSError: it cannot be written; an earlier file is still there.
    """
    with written_atomically(to) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for page in feedback.pages:
            archive.write(page.path, page.name_in_zip)
    return to


def _graded(marked_class: ClassToMark, units: Sequence[str]) -> list[tuple[str, str]]:
    """Students and units with a graded notebook, in order."""
    folder = step_folder(marked_class.coursedir, marked_class.coursedir.autograded_directory)
    found = [(path, unit) for unit in units for path in folder.glob(f"*/{unit}/{unit}.ipynb")]
    return sorted((path.parts[-3], unit) for path, unit in found if path.stat().st_size)


def _not_graded(
    attempts: Collection[tuple[str, str]],
    graded: Collection[tuple[str, str]],
    units: Sequence[str],
    students: Sequence[str],
) -> list[str]:
    """A line that names the submissions without marks; an empty list if there are none."""
    wanted = [one for one in sorted(attempts) if one[1] in units and (not students or one[0] in students)]
    missing = [one for one in wanted if one not in graded]
    if not missing:
        return []
    return [f"not graded yet, so without a page: {_named(missing)}; use gradaccum classroom grade with the same --from first"]


def _lost(
    marked_class: ClassToMark,
    graded: Collection[tuple[str, str]],
    units: Sequence[str],
    students: Sequence[str],
    attempts: Collection[tuple[str, str]] | None,
) -> list[str]:
    """A line that names the submissions, of the attempts if given, that have marks and whose marked notebook is gone."""
    marked = [one for one in marked_class.store.submissions() if one[1] in units and (not students or one[0] in students)]
    marked = [one for one in marked if attempts is None or one in attempts]
    lost = [one for one in marked if one not in graded]
    if not lost:
        return []
    folder, of = marked_class.coursedir.autograded_directory, ",".join(dict.fromkeys(unit[:2] for _, unit in lost))
    whose = sorted({student for student, _ in lost})
    of += f" --students {','.join(whose)}" if len(whose) <= MAX_NAMED else ""
    return [
        f"marked notebooks are not in {folder}/, so there is no page: {_named(lost)};"
        f" use gradaccum classroom grade {marked_class.directory} --units {of} --again"
    ]


def _named(submissions: Sequence[tuple[str, str]]) -> str:
    """Submissions by student and unit, only the first of many."""
    named = [f"{student}, {unit}" for student, unit in submissions[:MAX_NAMED]]
    return "; ".join(named) + (f"; and {len(submissions) - MAX_NAMED} more" if len(submissions) > MAX_NAMED else "")


def _make_page(marked_class: ClassToMark, student: str, unit: str, decisions: Decisions) -> Path:
    coursedir = marked_class.coursedir
    convert(_Generate(decisions, coursedir=coursedir, config=coursedir.config, log=quiet_log()), unit, student)
    return Path(coursedir.format_path(coursedir.feedback_directory, student, unit), f"{unit}.html")


def _name_in_zip(student: str, unit: str, attempt: Attempt | None) -> str:
    """The name by which the LMS recognises whose page it is; ``STUDENT/UNIT.html`` if the work did not come from an LMS."""
    prefix = one_line(attempt.owner.claim.reply_prefix) if attempt else ""
    return f"{prefix}{unit}.html" if prefix else f"{student}/{unit}.html"
