"""Unit 00, the start page. Its practice exercise shows what a verdict looks like."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.verdict import Part, Verdict
from autograder.exercises.unit_00_start_here.observing import ListTrial
from autograder.judging.failures import first_failure
from autograder.judging.tolerances import close
from gradaccum.diagnosis.catalogue import mistake

UNIT = "00_start_here"


class AverageGradients(Exercise[ListTrial]):
    """``average_gradients(gradients) -> Tensor``: the mean of a list of gradients."""

    id = "average_gradients"
    section = "Explore: a loop in one picture"
    unit = UNIT
    parts = (Part("mean", "the mean", 1),)
    graded = False

    def trials(self, seed: int, device: str) -> dict[str, ListTrial]:
        return {f"{count} gradients": ListTrial(seed + count, count, device) for count in (4, 3, 1)}

    def judge(self, trials: Mapping[str, ListTrial], observations: Mapping[str, Observation]) -> Verdict:
        message, summed = "", False
        for name, trial in trials.items():
            seen, gradients = observations[name], torch.stack(trial.gradients()).cpu()
            if seen.failure:
                message = message or seen.failure.message
            elif "value" not in seen.tensors:
                message = message or f"Your function returned {seen.facts['type']} where a tensor was due."
            elif not close(seen.tensors["value"].double(), gradients.mean(0), "float64"):
                message = message or f"For {name}, your tensor is not their mean."
                summed |= trial.count > 1 and close(seen.tensors["value"].double(), gradients.sum(0), "float64")
        mistakes = (mistake("no-scale"),) if summed else ()
        return self.verdict({"mean": message}, mistakes=mistakes, failure=first_failure(observations))
