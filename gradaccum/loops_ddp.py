"""The public path of the gallery of loops on several ranks, which notebooks import."""

from gradaccum.loops.ddp import DDP_GALLERY

__all__ = ["DDP_GALLERY"]
