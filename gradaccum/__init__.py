"""The bench of the gradient-accumulation course: problems, loops, recordings, fingerprints and explorables."""

__version__ = "0.1.0"
