"""Playing the loop that named mistakes describe, and comparing its updates with those that were seen."""

from __future__ import annotations

import itertools
from functools import cache

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.observing.loops import LoopTrial
from gradaccum.diagnosis.loop_variants import LoopVariant, loop_variants, play, stale_loop_variants
from gradaccum.fingerprint import micro_batch_gradients
from gradaccum.problems import Problem

NO_GRADIENT = {"detached", "grad-disabled"}
"""Gradients that never existed: in numbers a loop that cleared them, or whatever else is wrong with it."""

CLEARED = ({"zero-every"}, {"zero-before-step"}, set())


@cache
def gradients_of(problem: Problem) -> tuple[Tensor, Tensor]:
    """Those of the micro-batches, in training and in evaluation mode, and at the end what ``.grad`` held before."""
    return micro_batch_gradients(problem), micro_batch_gradients(problem, training=False)


def variants_with(slugs: set[str]) -> list[LoopVariant]:
    return [variant for variant, named in (*loop_variants(), *stale_loop_variants()) if set(named) == slugs]


def moves_alike(variant: LoopVariant, problem: Problem, moved: Tensor, modes: tuple[Tensor, ...], reached: Tensor) -> bool:
    """Whether a variant's updates are these, at the numbers reached, but for some share of what ``.grad`` held before."""
    stale = modes[0][-1] * reached
    updates = list(itertools.islice(play(variant, problem), len(moved) + 1))
    if len(updates) != len(moved):
        return False
    for (_, row), found in zip(updates, moved, strict=True):
        made = [sum((share * mode[k] for k, share in row.items()), torch.zeros_like(found)) * reached for mode in modes]
        left = [found - one for one in made]
        left = [one - (one @ stale) / (stale @ stale) * stale for one in left]
        if min(float(one.norm()) for one in left) > 1e-4 * max(float(found.norm()), 1.0):
            return False
    return True


def reproduces(slugs: set[str], trial: LoopTrial, seen: Observation) -> bool:
    """Whether some loop that makes just these mistakes makes the updates that were seen."""
    problem, (training, evaluation) = trial.problem, gradients_of(trial.problem)
    gradients, modes = seen.tensors["gradients"], (training, evaluation) if "eval-mode" in slugs else (training,)
    moved = gradients if "lr-scaled-too" in slugs else seen.tensors["movements"] / problem.lr
    reached = gradients.any(0) if "detached" in slugs and gradients.any() else torch.ones_like(gradients[0], dtype=torch.bool)
    rest = slugs - {"eval-mode", "lr-scaled-too"} - NO_GRADIENT
    variants = [v for cleared in (CLEARED if NO_GRADIENT & slugs else (set(),)) for v in variants_with(rest | cleared)]
    return any(moves_alike(variant, problem, moved, modes, reached) for variant in variants)
