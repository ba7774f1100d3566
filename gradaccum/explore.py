"""The public path of :func:`explore`, which notebooks import."""

from gradaccum.notebook.explore import explore

__all__ = ["explore"]
