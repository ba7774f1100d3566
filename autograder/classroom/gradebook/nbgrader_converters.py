"""Runs nbgrader's converters. They log errors at length; here an error is an exception with a message of one line."""

from __future__ import annotations

import contextlib
import errno
import functools
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbgrader.api
from nbgrader.api import Gradebook
from nbgrader.converters.base import BaseConverter
from sqlalchemy.orm import scoped_session

from autograder.classroom.gradebook.database import database_name, database_trouble, is_of_database
from autograder.support.os_trouble import NO_SPACE, os_trouble


class ConvertingError(Exception):
    """A converter has failed. One line: why.

    Attributes:
        database: whether the database is at fault, so that no other submission can be converted either.
    """

    def __init__(self, problem: str, database: bool = False):
        super().__init__(problem)
        self.database = database


class KeepsCause(BaseConverter):
    """A converter that keeps the exception; nbgrader's converters only report that there was one.

    A class that inherits from this and from one of nbgrader's converters has to name this one first.

    Attributes:
        cause: what was raised; None if nothing was.
    """

    cause: Exception | None = None

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        with self._remembering():
            super().init_assignment(assignment_id, student_id)

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        with self._remembering():
            return bool(super().init_destination(assignment_id, student_id))

    def convert_single_notebook(self, notebook_filename: str) -> None:
        with self._remembering():
            super().convert_single_notebook(notebook_filename)

    @contextlib.contextmanager
    def _remembering(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.cause = error
            raise


def convert(converter: BaseConverter, unit: str, student: str) -> None:
    """Run a converter on a student's unit, replacing what an earlier run made.

    Raises:
        ConvertingError: it has failed, and has removed what it had made.
        OSError: the same, because nothing more can be written to this disk; the error names a path.
    """
    converter.coursedir.assignment_id, converter.coursedir.student_id = unit, student
    converter.force = True
    try:
        with commands_of_this_python(), _opened_once(), warnings.catch_warnings():  # SQLAlchemy warns of nbgrader's use
            warnings.simplefilter("ignore")
            converter.start()
    except Exception as error:  # nbgrader wraps every exception
        cause = getattr(converter, "cause", None) or error
        if isinstance(cause, OSError):
            cause.filename = cause.filename or converter._format_dest(unit, student)
            if cause.errno in (*NO_SPACE, errno.EROFS):
                raise cause from None
        raise ConvertingError(_reason(cause, converter.coursedir.db_url), is_of_database(cause)) from None


def _reason(cause: Exception, db_url: str) -> str:
    """What went wrong in nbgrader, in one line. Errors of the system and of the database name a file."""
    if is_of_database(cause):
        return f"{database_name(db_url)}: {database_trouble(cause)}"
    if isinstance(cause, OSError):
        return os_trouble(cause)
    message = str(cause.__context__ or cause).strip()
    return message.splitlines()[0] if message else type(cause).__name__


_engine = functools.cache(nbgrader.api.create_engine)


@contextlib.contextmanager
def _opened_once() -> Iterator[None]:
    """Spare nbgrader what it does again each time it opens a database, which is seven times for one entry.

    It uses one engine of SQLAlchemy for each database, so that what was compiled for one entry serves the next; and it looks
    once for each entry whether all tables are there. It still closes the connections each time.
    """
    create_engine, init = nbgrader.api.create_engine, Gradebook.__init__
    opened: dict[tuple[str, str], dict[str, Any]] = {}

    def open_again(gradebook: Gradebook, db_url: str, course_id: str = "default_course", authenticator: Any = None) -> None:
        if found := opened.get((db_url, course_id)):
            vars(gradebook).update(found, db=scoped_session(found["db"].session_factory), authenticator=authenticator)
        else:
            init(gradebook, db_url, course_id, authenticator)
            opened[db_url, course_id] = dict(vars(gradebook))

    nbgrader.api.create_engine, Gradebook.__init__ = _engine, open_again
    try:
        yield
    finally:
        nbgrader.api.create_engine, Gradebook.__init__ = create_engine, init


def quiet_log() -> logging.Logger:
    """A logger for nbgrader that prints nothing: what matters is in the exceptions."""
    log = logging.getLogger("gradaccum.nbgrader")
    log.propagate = False
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    return log


@contextlib.contextmanager
def commands_of_this_python() -> Iterator[None]:
    """Put the commands of this Python on the path: to create a database nbgrader calls ``alembic``.

    In a virtual environment that has not been activated it would not be found.
    """
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before
