"""The public path of contrastive problems, which notebooks import."""

from gradaccum.problems.contrastive import ContrastiveProblem, gradients, info_nce

__all__ = ["ContrastiveProblem", "gradients", "info_nce"]
