"""The practice exercise of the start page: see what a verdict looks like."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from autograder.exercise import Exercise, Observation, Part, register
from autograder.loop_trials import close
from autograder.mistakes import mistake

UNIT = "00_start_here"


@dataclass(frozen=True)
class ListTrial:
    """``count`` random gradients of length 5."""

    seed: int
    count: int
    device: str

    def gradients(self) -> list[torch.Tensor]:
        generator = torch.Generator(device="cpu").manual_seed(self.seed % 2**63)
        rows = torch.randn(self.count, 5, generator=generator, dtype=torch.float64, device="cpu")
        return list(rows.to(self.device))


@register
class AverageGradients(Exercise):
    """``average_gradients(gradients) -> Tensor``: the mean of a list of gradients."""

    id = "average_gradients"
    unit = UNIT
    parts = (Part("mean", "the mean", 1),)
    graded = False

    def trials(self, seed, device):
        return {f"{count} gradients": ListTrial(seed + count, count, device) for count in (4, 3, 1)}

    def observe(self, function, trial):
        value = function(trial.gradients())
        if not isinstance(value, torch.Tensor):
            return Observation(facts={"type": type(value).__name__})
        return Observation({"value": value.detach().cpu()})

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
