"""The public import path of the exporters: instructors pass it to ``nbgrader export``."""

from autograder.classroom.returning.lms_exporters import CanvasExporter, MoodleExporter

__all__ = ["CanvasExporter", "MoodleExporter"]
