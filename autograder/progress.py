"""The public path of :func:`show_progress`, which notebooks import."""

from autograder.desk.progress import show_progress

__all__ = ["show_progress"]
