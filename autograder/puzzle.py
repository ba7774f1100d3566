"""The public path of :func:`show_puzzle`, which notebooks import."""

from autograder.exercises.unit_04_training_loop.puzzle import show_puzzle

__all__ = ["show_puzzle"]
