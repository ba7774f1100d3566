"""The public path of :func:`check`, which notebooks import."""

from autograder.desk.check import check

__all__ = ["check"]
