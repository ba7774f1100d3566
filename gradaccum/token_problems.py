"""The public path of problems whose samples are sequences of tokens, which notebooks import."""

from gradaccum.problems.tokens import IGNORE_INDEX, TokenProblem

__all__ = ["IGNORE_INDEX", "TokenProblem"]
