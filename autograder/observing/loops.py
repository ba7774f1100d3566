"""Run a training loop on a problem and record its gradients, movements, losses and counts."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from autograder.contract.observation import Observation
from autograder.observing.student_calls import failure_of
from gradaccum.problems import Problem
from gradaccum.recording import Event, Recording, record


@dataclass(frozen=True)
class LoopTrial:
    """A problem, and how the loop is recorded on it, see :func:`gradaccum.recording.record`."""

    problem: Problem
    frozen: bool = False
    meter: bool = False


def observe_loop(loop: Callable, trial: LoopTrial) -> Observation:
    """Run a loop; observe its gradients, movements, parameters, losses and how often it did what."""
    events: list[Event] = []
    at_once: list[list[float] | None] = []

    def noting(*arguments: Any) -> object:
        returned = loop(*arguments)
        at_once.append(plain_losses(returned))
        return returned

    try:
        seen = record(noting, trial.problem, frozen=trial.frozen, meter=trial.meter, on_event=events.append)
    except Exception as error:
        return Observation(facts=_counts(events) | {"without_graph": _is_without_graph(error)}, failure=failure_of(error))
    tensors = {"gradients": seen.gradients, "movements": seen.movements, "parameters": seen.parameters}
    return Observation({name: tensor.cpu() for name, tensor in tensors.items()}, _counts(events) | _facts(seen, at_once))


def _counts(events: list[Event]) -> dict:
    forwards = [event for event in events if event.kind == "forward"]
    learning = [event for event in forwards if event.grad_enabled]
    return {
        "backwards": sum(event.kind == "backward" for event in events),
        "forwards_with_grad": len(learning),
        "forwards_without_grad": len(forwards) - len(learning),
        "forwards_in_evaluation": sum(not event.training for event in learning),
        "forwards_in_graph": sum(event.size > 0 for event in learning),  # those inside torch.func show no size
        "micro_batches_seen": len(_micro_batches(events)),
        "seen_at_first_update": len(_micro_batches(itertools.takewhile(lambda event: event.kind != "step", events))),
        "last_forward_with_grad": bool(forwards) and forwards[-1].grad_enabled,
    }


def _micro_batches(events: Iterable[Event]) -> set[tuple[int, int]]:
    """The micro-batches, by epoch and position, that went through the model with gradients on."""
    return {(e.epoch, e.micro_batch) for e in events if e.kind == "forward" and e.grad_enabled and e.micro_batch is not None}


def _facts(seen: Recording, at_once: list[list[float] | None]) -> dict:
    losses = [plain_losses(value) for value in seen.returned]
    return {
        "update_epochs": list(seen.update_epochs),
        "fetched": list(seen.fetched),
        "losses": losses,
        "losses_changed": repr(losses) != repr(at_once),  # NaN is not equal to itself
        "training_after": seen.training_after,
        "changed": list(seen.changed),
        "peak_bytes": seen.peak_bytes,
    }


def _is_without_graph(error: Exception) -> bool:
    """Whether autograd's engine refused a loss because it has no graph."""
    frames = traceback.extract_tb(error.__traceback__)
    in_engine = bool(frames) and frames[-1].filename.replace("\\", "/").endswith("torch/autograd/graph.py")
    return in_engine and "does not require grad" in str(error)


MAX_LOSSES = 10_000
"""Losses that one epoch may report. Right loops report a handful; a longer list is not read."""


def plain_losses(value: Any) -> list[float] | None:
    """A returned sequence of numbers or one-element tensors as floats; None if it is not one. True is not a number."""
    if isinstance(value, Tensor) or type(value).__module__ == "numpy":
        value = value.tolist()
    if not isinstance(value, list | tuple) or len(value) > MAX_LOSSES:
        return None
    try:
        items = [item.detach().item() if isinstance(item, Tensor) else item for item in value]
        return None if any(isinstance(item, str | bytes | bool) for item in items) else [float(item) for item in items]
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return None
