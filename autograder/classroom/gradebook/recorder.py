"""Writes marks into a class's gradebook; nothing else does.

Marks go in through nbgrader's own Autograde, from which only the marking itself has been removed. So late penalties, manual
grades, formgrader and feedback work as in nbgrader, whichever way a class was marked.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from nbconvert.exporters import NotebookExporter
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter
from nbgrader.preprocessors import CheckCellMetadata, Execute
from sqlalchemy.exc import SQLAlchemyError
from traitlets.utils.importstring import import_item

from autograder.classroom.gradebook.database import database_name, database_trouble
from autograder.classroom.gradebook.nbgrader_converters import (
    ConvertingError,
    KeepsCause,
    commands_of_this_python,
    convert,
    quiet_log,
)
from autograder.hosts.nbgrader_plugins import MarkSubmission

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

SQLITE_TIMEOUT = 20
"""Seconds to wait for an SQLite database that another process is writing to."""


REPLACED = Execute, MarkSubmission, CheckCellMetadata
"""Steps of Autograde that marking has taken: nbgrader's metadata in a marked notebook is that of the released one."""


class GradebookError(Exception):
    """The gradebook cannot be read or written. One line: what is wrong.

    Attributes:
        database: whether the database is at fault, so that nothing else can be written either.
    """

    def __init__(self, problem: str, database: bool = False):
        super().__init__(problem)
        self.database = database


class _MarkedNotebookExporter(NotebookExporter):
    """Exports the marked notebook instead of reading the one that was handed in. Its parent is a :class:`_RecordMarks`."""

    def from_filename(self, filename: str, resources: dict[str, Any] | None = None, **kw: Any) -> tuple[Any, dict[str, Any]]:
        assert isinstance(self.parent, _RecordMarks)
        return self.from_notebook_node(_notebook(self.parent.marked), resources, **kw)


class _RecordMarks(KeepsCause, Autograde):
    """Writes a marked notebook and its marks where Autograde would write those that it makes.

    Attributes:
        marked: the text of the marked notebook.
    """

    marked = ""

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Where nothing says when this notebook came in, forget the time of the one before it, which nbgrader would keep."""
        super().init_assignment(assignment_id, student_id)
        if not self.coursedir.get_existing_timestamp(self._format_source(assignment_id, student_id)):
            with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
                gradebook.update_or_create_submission(assignment_id, student_id, timestamp=None)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Autograde's second pass. Its first one restores what students changed, which has been done before marking."""
        with self._remembering():
            self.exporter._preprocessors = []
            for step in self.autograde_preprocessors:
                self.exporter.register_preprocessor(step)
            BaseConverter.convert_single_notebook(self, notebook_filename)


class Recorder:
    """Writes marks into the gradebook of a class.

    Args:
        coursedir: of the class, with its configuration.
    """

    def __init__(self, coursedir: CourseDirectory):
        self._coursedir, self._config = coursedir, _configuration(coursedir.config)

    def recorded_students(self, unit: str) -> set[str] | None:
        """The ids of the students who have a submission to a unit in the gradebook; None if the unit was not released.

        Raises:
            GradebookError: the gradebook cannot be read.
        """
        try:
            with commands_of_this_python(), Gradebook(self._coursedir.db_url, self._coursedir.course_id) as gradebook:
                if not gradebook.find_assignment(unit).notebooks:
                    return None
                return {submission.student_id for submission in gradebook.assignment_submissions(unit)}
        except MissingEntry:
            return None
        except (SQLAlchemyError, ImportError) as error:
            name = database_name(self._coursedir.db_url)
            raise GradebookError(f"{name}: {database_trouble(error)}", database=True) from None

    def record(self, student: str, unit: str, notebook: str) -> None:
        """Write the marks in a marked notebook. Doing it twice changes nothing.

        Args:
            student: id.
            unit: id.
            notebook: the text of the notebook, with the verdicts in it.

        Raises:
            GradebookError: it cannot be written; what the gradebook held of this submission has to be recorded again.
        """
        autograde = _RecordMarks(coursedir=self._coursedir, config=self._config, log=quiet_log())
        autograde.marked = notebook
        try:
            convert(autograde, unit, student)
        except ConvertingError as error:
            raise GradebookError(str(error), error.database) from None


def with_sqlite_timeout(db_url: str) -> str:
    """The URL of a database, with a longer timeout than SQLite's own if the database is SQLite and the URL names none."""
    if not db_url.startswith("sqlite") or "timeout=" in db_url:
        return db_url
    return f"{db_url}{'&' if '?' in db_url else '?'}timeout={SQLITE_TIMEOUT}"


def _configuration(configured: Config) -> Config:
    """The class's configuration, with reading and marking replaced by using the notebook that is marked already."""
    config = copy.deepcopy(configured)
    steps = config.Autograde.get("autograde_preprocessors", Autograde.autograde_preprocessors.default())
    classes = [import_item(step) if isinstance(step, str) else step for step in steps]
    config.Autograde.autograde_preprocessors = [one for one in classes if one not in REPLACED]
    config.Autograde.exporter_class = _MarkedNotebookExporter
    return config


def _notebook(text: str) -> NotebookNode:
    import nbformat

    return nbformat.reads(text, as_version=4)
