"""What the start page's exercise is run on, and what is observed of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from autograder.contract.observation import Observation
from gradaccum.kept_state import same_data


@dataclass(frozen=True)
class ListTrial:
    """``count`` random gradients of five numbers, one of which is zero. The last of five is the very tensor that is first.

    Two gradients are in float32, and have an axis of length 1. A single one is in float16. With ``zero``, all numbers of the
    second are zero.
    """

    seed: int
    count: int
    device: str
    zero: bool = False

    def gradients(self) -> list[torch.Tensor]:
        """One tensor ``(5,)`` in float64 for each gradient; of two, ``(5, 1)`` in float32; of one, ``(5,)`` in float16."""
        generator = torch.Generator(device="cpu").manual_seed(self.seed % 2**63)
        rows = torch.randn(self.count, 5, generator=generator, dtype=torch.float64, device="cpu")
        rows[0, 0] = 0
        if self.zero:
            rows[1] = 0
        rows = rows[:, :, None].float() if self.count == 2 else rows.half() if self.count == 1 else rows
        gradients = list(rows.to(self.device))
        return [*gradients[:4], gradients[0]] if self.count == 5 else gradients


def observe_tensor(function: Callable, trial: ListTrial) -> Observation:
    """Call the function with the gradients. Returns the tensor it returned as ``value``, or else the ``type`` of its answer.

    ``kept`` says whether the list of gradients is as it was.
    """
    gradients = trial.gradients()
    value = function(gradients)
    kept = same_data(gradients, trial.gradients())
    if not isinstance(value, torch.Tensor):
        return Observation(facts={"type": type(value).__name__, "kept": kept})
    return Observation({"value": value.detach().cpu()}, {"kept": kept})


OBSERVERS = {"average_gradients": observe_tensor}
