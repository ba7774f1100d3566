"""Observing a function that fills ``.grad``."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import nn

from autograder.contract.observation import Observation
from autograder.observing.calls import observe_call
from autograder.observing.loops import LoopTrial, observe_loop
from gradaccum.problems import MicroBatch


def observe_accumulation(function: Callable, trial: LoopTrial) -> Observation:
    """Call ``function(model, loss_fn, micro_batches)`` as if it were a loop with one update at its end.

    A later call finds ``.grad`` empty; if the first one does not, it finds what the one before it has left there.
    """

    def as_loop(
        model: nn.Module,
        loss_fn: Callable,
        optimizer: torch.optim.Optimizer,
        micro_batches: Iterable[MicroBatch],
        accumulation_steps: int,
    ) -> None:
        function(model, loss_fn, micro_batches)
        optimizer.step()
        if not trial.problem.stale:
            model.zero_grad()

    return observe_loop(as_loop, trial)


OBSERVERS = {"accumulate_gradient": observe_accumulation, "sum_form_lr": observe_call, "same_update": observe_call}
