"""The public path of :func:`show_fingerprint`, which notebooks import."""

from gradaccum.notebook.showing import show_fingerprint, show_fingerprints

__all__ = ["show_fingerprint", "show_fingerprints"]
