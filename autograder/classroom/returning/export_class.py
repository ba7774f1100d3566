"""``gradaccum classroom export``: picks the exporter for a format and writes the marks of a class with it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from autograder.classroom.course import existing_class
from autograder.classroom.gradebook.database import gradebook_url, open_gradebook
from autograder.classroom.new_files import refuse_to_replace
from autograder.classroom.returning.exporters import FileExporter, LmsExporter, NbgraderExporter
from autograder.classroom.returning.lms_exporters import BlackboardExporter, CanvasExporter, MoodleExporter
from autograder.publishing.nbgrader_course import pick_units

EXPORTERS: dict[str, type[FileExporter]] = {
    "nbgrader": NbgraderExporter,
    "canvas": CanvasExporter,
    "moodle": MoodleExporter,
    "blackboard": BlackboardExporter,
}
"""By the names that ``gradaccum classroom export --format`` takes."""


def export_class(
    directory: Path,
    wanted: str,
    *,
    to: Path | None = None,
    units: Iterable[str] | None = None,
    into: Path | None = None,
    missing_as_zero: bool = False,
    overwrite: bool = False,
    db_url: str = "",
) -> tuple[Path, list[str]]:
    """Write the marks of a class into a file.

    Args:
        directory: of the class.
        wanted: a name in :data:`EXPORTERS`.
        to: path of the file; by default a file in the class's folder, named after the format.
        units: lists such as ``"03,04"``; all in the gradebook if there is none.
        into: a file exported by the learning management system, to be filled in.
        missing_as_zero: whether a unit that was due and not handed in counts as 0.
        overwrite: whether a file that is there already is replaced.
        db_url: of the gradebook; by default that of the class's configuration.

    Returns:
        The path of the file, and notes for the instructor, a line each.

    Raises:
        ValueError: the marks cannot be exported; one line says why. Nothing has been written.
        OSError: a file cannot be read or written.
    """
    if wanted not in EXPORTERS:
        raise ValueError(f"unknown format {wanted!r}; choose one of {', '.join(EXPORTERS)}")
    course = existing_class(directory)
    exporter = EXPORTERS[wanted](config=course.config)
    exporter.course = course
    if not isinstance(exporter, LmsExporter) and (into or missing_as_zero):
        raise ValueError(f"--into and --missing-as-zero are for an LMS; a file for {wanted} is always made anew")
    if into:
        exporter.gradebook = str(into)
    if missing_as_zero:
        exporter.missing_as_zero = True
    exporter.to = str(to or exporter.to or directory / exporter.file_name)
    refuse_to_replace([exporter.target], overwrite)
    with open_gradebook(gradebook_url(course, db_url)) as gradebook:
        exporter.assignment = list(pick_units({one.name: directory for one in gradebook.assignments}, units))
        if not exporter.assignment:
            raise ValueError(f"{directory}: no unit is in its gradebook yet; hand one out with nbgrader generate_assignment")
        return exporter.target, exporter.write(gradebook)
