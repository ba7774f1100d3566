"""``gradaccum classroom release``: nbgrader makes the notebooks for students from ``source/``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from autograder.classroom.gradebook.nbgrader_converters import ConvertingError, KeepsCause, convert, quiet_log

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory


class ReleaseError(Exception):
    """A unit cannot be released. One line: which unit, and why."""


def release_unit(coursedir: CourseDirectory, unit: str) -> Path:
    """Write ``release/UNIT/`` and enter the unit into the gradebook, as ``nbgrader generate_assignment --force`` does.

    Returns:
        The directory of the released unit.

    Raises:
        ReleaseError: nbgrader refuses.
    """
    from nbgrader.converters import GenerateAssignment

    class Release(KeepsCause, GenerateAssignment):
        pass

    converter = Release(coursedir=coursedir, config=coursedir.config, log=quiet_log())
    try:
        convert(converter, unit, ".")
    except ConvertingError as error:
        raise ReleaseError(f"{unit}: {error}") from None
    return Path(coursedir.format_path(coursedir.release_directory, ".", unit))
