"""The public path of what the course adds to nbgrader; the configurations of classes name it."""

from autograder.hosts.nbgrader_plugins import DeductPerDay, MarkSubmission, ReadSubmission, ShowModelAnswers

__all__ = ["DeductPerDay", "MarkSubmission", "ReadSubmission", "ShowModelAnswers"]
