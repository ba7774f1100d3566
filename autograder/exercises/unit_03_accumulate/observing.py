"""Running a function that fills ``.grad``."""

from __future__ import annotations

from collections.abc import Callable

from autograder.contract.observation import Observation
from autograder.observing.calls import observe_call
from autograder.observing.loops import LoopTrial, observe_loop


def observe_accumulation(function: Callable, trial: LoopTrial) -> Observation:
    """Call ``function(model, loss_fn, micro_batches)`` as if it were a loop with one update at its end."""

    def as_loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        function(model, loss_fn, micro_batches)
        optimizer.step()

    return observe_loop(as_loop, trial)


OBSERVERS = {"accumulate_gradient": observe_accumulation, "sum_form_lr": observe_call, "same_update": observe_call}
