"""The public path of the gallery of contrastive losses, which notebooks import."""

from gradaccum.loops.contrastive import GALLERY, cached_features, one_large_batch

__all__ = ["GALLERY", "cached_features", "one_large_batch"]
