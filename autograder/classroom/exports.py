"""The public import path of the exporters: instructors pass it to ``nbgrader export``."""

from autograder.classroom.returning.lms_exporters import BlackboardExporter, CanvasExporter, MoodleExporter

__all__ = ["BlackboardExporter", "CanvasExporter", "MoodleExporter"]
