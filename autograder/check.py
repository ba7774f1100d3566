"""The public path of :func:`check`, which notebooks import."""

from autograder.support.garbage_collection import collection_paused

with collection_paused():  # it imports torch
    from autograder.desk.check import check

__all__ = ["check"]
