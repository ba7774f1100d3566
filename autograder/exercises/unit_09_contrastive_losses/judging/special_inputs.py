"""Functions that are right only for some ways of giving them the micro-batches: in equal sizes, or in a list."""

from __future__ import annotations

from autograder.contract.observation import Observation
from autograder.exercises.unit_09_contrastive_losses.judging.messages import NOTHING
from autograder.exercises.unit_09_contrastive_losses.judging.references import due, found_towers, same_towers
from autograder.exercises.unit_09_contrastive_losses.observing import ContrastiveTrial


def needs_equal_sizes(trial: ContrastiveTrial, seen: Observation) -> bool:
    """Whether the gradients are wrong for ragged micro-batches in a list, given that they are right for equal sizes."""
    found = None if seen.failure else found_towers(trial.problem, seen)
    return not same_towers(trial.problem, found, due(trial.problem).towers)


def needs_a_list(trial: ContrastiveTrial, listed: Observation, streamed: Observation, message: str) -> bool:
    """Whether the encoders get gradients from a list, but not from a generator of the same micro-batches.

    Args:
        trial: with the micro-batches in a list.
        listed: what was observed on this trial.
        streamed: what was observed with the generator.
        message: what is wrong with the encoders' gradient there.
    """
    found = None if listed.failure else found_towers(trial.problem, listed)
    if found is None or not any(gradient.any() for gradient in found.values()):
        return False
    return message == NOTHING or (streamed.failure is not None and streamed.failure.kind == "raised")
