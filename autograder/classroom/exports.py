"""The public path of the exporters, which instructors name to nbgrader."""

from autograder.classroom.returning.exports import CanvasExporter, MoodleExporter

__all__ = ["CanvasExporter", "MoodleExporter"]
