"""Run a training loop over tokens and record what happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from autograder.contract.observation import Observation
from autograder.observing.loops import LoopTrial, observe_loop
from gradaccum.loops.tokens import as_loop
from gradaccum.problems.tokens import IGNORE_INDEX, TokenProblem


@dataclass(frozen=True)
class TokenLoopTrial(LoopTrial):
    """A problem whose samples are sequences of tokens, and how the loop is watched on it."""

    problem: TokenProblem


def observe_tokens(function: Callable, trial: TokenLoopTrial) -> Observation:
    """Run a loop over tokens; it is told the ignore index only if that is not the usual one."""
    index = trial.problem.ignore_index
    return observe_loop(as_loop(function, None if index == IGNORE_INDEX else index), trial)
