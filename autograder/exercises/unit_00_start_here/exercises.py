"""The practice exercise of the start page: see what a verdict looks like."""

from __future__ import annotations

import torch

from autograder.contract.exercise import Exercise
from autograder.contract.verdict import Part
from autograder.exercises.unit_00_start_here.observing import ListTrial
from autograder.judging.comparing import close
from gradaccum.diagnosis.catalogue import mistake

UNIT = "00_start_here"


class AverageGradients(Exercise):
    """``average_gradients(gradients) -> Tensor``: the mean of a list of gradients."""

    id = "average_gradients"
    section = "Explore: a loop in one picture"
    unit = UNIT
    parts = (Part("mean", "the mean", 1),)
    graded = False

    def trials(self, seed, device):
        return {f"{count} gradients": ListTrial(seed + count, count, device) for count in (4, 3, 1)}

    def judge(self, trials, observations):
        results, slugs, failure = "", (), None
        for name, trial in trials.items():
            seen, gradients = observations[name], torch.stack(trial.gradients()).cpu()
            if seen.failure:
                results, failure = results or seen.failure.message, failure or seen.failure
            elif "value" not in seen.tensors:
                results = results or f"Your function returned {seen.facts['type']} where a tensor was due."
            elif not close(seen.tensors["value"].double(), gradients.mean(0), "float64"):
                results = results or f"For {name} your tensor is not their mean."
                if trial.count > 1 and close(seen.tensors["value"].double(), gradients.sum(0), "float64"):
                    slugs = ("no-scale",)
        return self.verdict({"mean": results}, mistakes=tuple(map(mistake, slugs)), failure=failure)
