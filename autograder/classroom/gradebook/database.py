"""The database of a class's gradebook: its URL, opening it, and what is wrong with it in one line."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy
from nbgrader.api import Course, Gradebook
from sqlalchemy.exc import SQLAlchemyError

from autograder.support.os_trouble import ACCESS, ROOM

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory


# nbgrader logs errors of the database with a page of traceback, and raises them as well.
logging.getLogger("tornado.application").addFilter(lambda record: "Rolling back session" not in str(record.msg))


class NoGradebookError(ValueError):
    """A gradebook that cannot be used. The message is one line: which gradebook, why, and what to do."""


def gradebook_url(course: CourseDirectory, url: str = "") -> str:
    """The URL of a class's gradebook, or ``url`` if that is given.

    A relative path in the class's configuration is taken relative to the class's directory.

    Raises:
        NoGradebookError: it is not the URL of a database.
    """
    try:
        address = sqlalchemy.make_url(url or course.db_url)
    except SQLAlchemyError:
        example = "sqlite:///gradebook.db or postgresql://user@host/name"
        raise NoGradebookError(f"{url or course.db_url!r} is no address of a database; write it like {example}") from None
    if address.get_backend_name() == "sqlite" and address.database and not url:
        address = address.set(database=str(Path(course.root, address.database)))
    return address.render_as_string(hide_password=False)


def gradebook_exists(db_url: str) -> bool:
    """Whether there is a file at the URL of an SQLite database; any other database is taken to be there."""
    return not db_url.startswith("sqlite:///") or Path(db_url.removeprefix("sqlite:///").partition("?")[0]).is_file()


@contextlib.contextmanager
def open_gradebook(url: str) -> Iterator[Gradebook]:
    """Open the gradebook at a URL, which is not created if it is not there.

    Raises:
        NoGradebookError: it does not exist, is locked, cannot be reached or is not a gradebook. Also raised while the
            gradebook is in use.
    """
    address, name = sqlalchemy.make_url(url), database_name(url)
    if address.get_backend_name() == "sqlite" and not Path(name).is_file():
        raise NoGradebookError(f"{name}: there is no such gradebook; grade something first, or name another with --db")
    try:
        course_id = _stored_course_id(address)
        if course_id is None:
            raise NoGradebookError(f"{name}: holds no gradebook of nbgrader; grade something first, or name another with --db")
        with Gradebook(url, course_id) as gradebook:
            yield gradebook
    except (SQLAlchemyError, ImportError) as error:
        raise NoGradebookError(f"{name}: {database_trouble(error)}") from None


def _stored_course_id(address: sqlalchemy.URL) -> str | None:
    """The id of a course in the database, or None if the database has no tables.

    Opening a gradebook with any other id would add a course to it, and opening one without tables would create them.
    """
    engine = sqlalchemy.create_engine(address)
    try:
        with engine.connect() as connection:
            if not sqlalchemy.inspect(connection).has_table(Course.__tablename__):
                return None
            return connection.execute(sqlalchemy.select(Course.id)).scalars().first()
    finally:
        engine.dispose()


def database_name(url: str) -> str:
    """What to call a database: the path of its file, or its address without the password."""
    address = sqlalchemy.make_url(url)
    sqlite = address.get_backend_name() == "sqlite"
    return (address.database or "") if sqlite else address.render_as_string(hide_password=True)


def is_of_database(error: BaseException) -> bool:
    """Whether the database is at fault. nbgrader turns some of its errors into others, which have them as their context."""
    return isinstance(error, SQLAlchemyError) or isinstance(error.__context__, SQLAlchemyError)


def database_trouble(error: BaseException) -> str:
    """Why a database cannot be used, in one line, and what to do if that is known."""
    if not isinstance(error, SQLAlchemyError) and isinstance(error.__context__, SQLAlchemyError):
        error = error.__context__
    message = " ".join(str(getattr(error, "orig", None) or error).split())
    if "database is locked" in message:
        return "the gradebook is locked by another program, perhaps nbgrader or formgrader at work; try again when it is done"
    if "no such column" in message or "UndefinedColumn" in message:
        return f"the gradebook is of another version of nbgrader ({message}); see nbgrader db upgrade"
    if isinstance(error, ImportError):
        return f"{message}, which this database needs; install it with pip install {error.name}"
    if "readonly database" in message or "unable to open database file" in message:
        return f"{message}; {ACCESS}"
    return f"{message}; {ROOM}" if "disk is full" in message else message
