"""A class on disk: an nbgrader course directory with the units of the course."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from autograder.publishing.nbgrader_course import CONFIG, course_directory

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory


class NoClassError(ValueError):
    """A directory that is not a class, or a class whose configuration cannot be read. One line: which directory, and why."""


def existing_class(directory: Path) -> CourseDirectory:
    """The class in a directory, as nbgrader sees it.

    Raises:
        NoClassError: the directory is not a class, or its configuration cannot be read.
    """
    if not (directory / CONFIG).is_file():
        raise NoClassError(f"{directory} is no class (it has no {CONFIG}); make one with gradaccum classroom init")
    try:
        return course_directory(directory)
    except Exception as error:  # a configuration is Python and may raise anything
        raise NoClassError(f"{directory / CONFIG}: {type(error).__name__}: {error}") from None


def step_folder(course: CourseDirectory, step: str) -> Path:
    """The folder of one of nbgrader's steps, which holds a folder for each student.

    Args:
        course: the class.
        step: as the class's configuration calls it, such as ``course.submitted_directory``. It may be a link.
    """
    return Path(course.format_path(step, ".", ".")).resolve()
