"""nbgrader's converters, which say at length and in logs what goes wrong: here in one line, as an exception."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from nbgrader.converters.base import BaseConverter
from sqlalchemy.exc import SQLAlchemyError


class ConvertingError(Exception):
    """A converter has failed. One line: why.

    Attributes:
        database: whether it is the database, so that no other submission can be converted either.
    """

    def __init__(self, problem: str, database: bool = False):
        super().__init__(problem)
        self.database = database


class Remembering:
    """Makes a converter remember what went wrong, of which it only says that something did. The converter's class comes second.

    Attributes:
        trouble: what was raised.
    """

    trouble: Exception | None = None

    def init_assignment(self, assignment_id, student_id):
        with self._remembering():
            super().init_assignment(assignment_id, student_id)

    def convert_single_notebook(self, notebook_filename):
        with self._remembering():
            super().convert_single_notebook(notebook_filename)

    @contextlib.contextmanager
    def _remembering(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.trouble = error
            raise


def convert(converter: BaseConverter, unit: str, student: str) -> None:
    """Run a converter on a unit of a student, whatever it made before.

    Raises:
        ConvertingError: it has failed, and has removed what it had made.
    """
    converter.coursedir.assignment_id, converter.coursedir.student_id = unit, student
    converter.force = True
    try:
        with commands_of_this_python(), warnings.catch_warnings():  # nbgrader's use of its database makes SQLAlchemy talk
            warnings.simplefilter("ignore")
            converter.start()
    except Exception as error:  # nbgrader wraps whatever happens
        trouble = getattr(converter, "trouble", None) or error
        database = isinstance(trouble, SQLAlchemyError) or isinstance(trouble.__context__, SQLAlchemyError)
        raise ConvertingError(reason(trouble), database) from None


def reason(error: BaseException) -> str:
    """What went wrong in nbgrader or its database, in one line."""
    said = str(getattr(error, "orig", None) or error.__context__ or error).strip()
    first = said.splitlines()[0] if said else type(error).__name__
    return re.sub(r"^\([\w.]+\) ", "", first)  # the name of the driver's exception


def quiet_log() -> logging.Logger:
    """Nbgrader explains at length what goes wrong; what counts is in the exceptions."""
    log = logging.getLogger("gradaccum.nbgrader")
    log.propagate = False
    log.addHandler(logging.NullHandler()) if not log.handlers else None
    return log


@contextlib.contextmanager
def commands_of_this_python() -> Iterator[None]:
    """To make a database nbgrader calls ``alembic``, which is not on the path of a virtual environment not activated."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before
