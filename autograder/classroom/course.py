"""An nbgrader course directory with the units of the course."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory
from autograder.publishing.nbgrader_course import CONFIG, course_directory


class NoClassError(ValueError):
    """A directory that is no class, or one that cannot be read. One line: which, and why."""


def existing_class(directory: Path) -> CourseDirectory:
    """The class in a directory, as nbgrader sees it.

    Raises:
        NoClassError: there is none, or its configuration cannot be read.
    """
    if not (directory / CONFIG).is_file():
        raise NoClassError(f"{directory} is no class (it has no {CONFIG}); make one with gradaccum classroom init")
    try:
        return course_directory(directory)
    except Exception as error:  # a configuration is Python and may raise anything
        raise NoClassError(f"{directory / CONFIG}: {type(error).__name__}: {error}") from None
