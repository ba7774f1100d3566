"""The one writer of a class's gradebook: marks go in through nbgrader's own Autograde, which only does not mark any more.

So late penalties, manual grades, formgrader and feedback are nbgrader's, whichever way a class was marked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbconvert.exporters import NotebookExporter
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from autograder.classroom.gradebook.converters import (
    ConvertingError,
    Remembering,
    commands_of_this_python,
    convert,
    quiet_log,
    reason,
)
from autograder.classroom.gradebook.reading import database_trouble
from autograder.hosts.nbgrader_plugins import MarkSubmission

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

PATIENCE = 20
"""Seconds to wait for an SQLite database that somebody else is writing to."""


class GradebookError(Exception):
    """The gradebook cannot be read, or something cannot be written into it. One line: what is wrong.

    Attributes:
        database: whether it is the database, so that nothing else can be written either.
    """

    def __init__(self, problem: str, database: bool = False):
        super().__init__(problem)
        self.database = database


class _Marked(NotebookExporter):
    """Exports the notebook that was marked, instead of reading the one that was handed in."""

    def from_filename(self, filename, resources=None, **kw):
        return self.from_notebook_node(_text_as_notebook(self.parent.marked), resources, **kw)


class _AttachOutputs(NbGraderPreprocessor):
    """Puts back what cells say; nbgrader's sanitizing has cleared it, as it does with what students claim."""

    def preprocess(self, nb, resources):
        outputs = {cell.id: cell for cell in _text_as_notebook(self.parent.parent.marked).cells}
        for cell in nb.cells:
            if cell.cell_type == "code" and cell.id in outputs:
                cell.outputs, cell.execution_count = outputs[cell.id].outputs, outputs[cell.id].execution_count
        return nb, resources


class _Recording(Remembering, Autograde):
    """Writes a marked notebook and its marks where Autograde would write those it makes.

    Attributes:
        marked: the text of the notebook that was marked.
    """

    marked = ""


class Recorder:
    """Writes marks into the gradebook of a class.

    Args:
        coursedir: of the class, with its configuration.
    """

    def __init__(self, coursedir: CourseDirectory):
        self._coursedir, self._config = coursedir, _configuration(coursedir.config)

    def known(self, unit: str) -> set[str] | None:
        """The students with a submission to a unit in the gradebook; None if it does not know the unit, as it was not released.

        Raises:
            GradebookError: it cannot be read.
        """
        try:
            with commands_of_this_python(), Gradebook(self._coursedir.db_url, self._coursedir.course_id) as gradebook:
                if not gradebook.find_assignment(unit).notebooks:
                    return None
                return {submission.student_id for submission in gradebook.assignment_submissions(unit)}
        except MissingEntry:
            return None
        except SQLAlchemyError as error:
            raise GradebookError(reason(error), database=True) from None
        except ImportError as error:
            raise GradebookError(database_trouble(error), database=True) from None

    def record(self, student: str, unit: str, notebook: str) -> None:
        """Write the marks in a marked notebook. Doing it again changes nothing.

        Args:
            student: id.
            unit: id.
            notebook: the text of the notebook, its verdicts attached.

        Raises:
            GradebookError: it cannot be written; what was recorded before of this submission is to be recorded again.
        """
        autograde = _Recording(coursedir=self._coursedir, config=self._config, log=quiet_log())
        autograde.marked = notebook
        try:
            convert(autograde, unit, student)
        except ConvertingError as error:
            raise GradebookError(str(error), error.database) from None


def with_patience(db_url: str) -> str:
    """The address of a database, with more patience than SQLite has of itself."""
    if not db_url.startswith("sqlite") or "timeout=" in db_url:
        return db_url
    return f"{db_url}{'&' if '?' in db_url else '?'}timeout={PATIENCE}"


def _configuration(configured: Config) -> Config:
    """The class's configuration, with marking and reading replaced by what has been done already."""
    config = configured.copy()
    steps = config.Autograde.get("autograde_preprocessors", Autograde.autograde_preprocessors.default())
    markers = {Execute, MarkSubmission, *(f"{one.__module__}.{one.__name__}" for one in (Execute, MarkSubmission))}
    markers |= {"nbgrader.preprocessors.Execute"}
    config.Autograde.autograde_preprocessors = [_AttachOutputs, *(step for step in steps if step not in markers)]
    config.Autograde.exporter_class = _Marked
    return config


def _text_as_notebook(text: str):
    import nbformat

    return nbformat.reads(text, as_version=4)
