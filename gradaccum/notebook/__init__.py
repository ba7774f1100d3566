"""What a notebook calls: explorables, predictions and pictures of fingerprints."""

from gradaccum import still

__all__ = ["still"]
