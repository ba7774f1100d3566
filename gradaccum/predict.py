"""The public path of :func:`predict`, which notebooks import."""

from gradaccum.notebook.predict import predict

__all__ = ["predict"]
