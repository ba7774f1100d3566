"""Counting what autograd keeps for the backward pass, in the right way and in every usual wrong way.

A count is a :class:`Policy`: what it takes for a tensor's size, what it leaves out, and what it counts twice.
:func:`predict` plays one on what autograd really kept. A wrong number is diagnosed by searching the policy with the fewest
mistakes that yields it on every trial.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from autograder.exercises.unit_02_memory_limits.observing import SavedTrial
from gradaccum.memory import saved_tensors, storage_key


@dataclass(frozen=True)
class Kept:
    """A tensor that autograd kept, in numbers.

    ``parameter`` is ``"trainable"``, ``"frozen"`` or empty, ``lookalike`` whether it has the shape of one, maybe transposed,
    ``in_graph`` whether it requires a gradient.
    """

    storage: int
    storage_bytes: int
    start: int
    numel: int
    parameter: str
    lookalike: bool
    given: bool
    by_loss: bool
    in_graph: bool


@dataclass(frozen=True)
class Forward:
    """What autograd kept in a forward pass, and how much memory the model's parameters take, kept or not."""

    kept: tuple[Kept, ...]
    parameter_elements: int
    itemsize: int


@dataclass(frozen=True)
class Policy:
    """How kept tensors are counted. The defaults are right.

    Attributes:
        once: each ``"storage"``, each ``"start"`` of a tensor in memory, each ``"size"``, or ``"never"``.
        graph: whether tensors that require a gradient count.
        parameters: which of them count: ``"none"``, ``"frozen"`` or ``"all"``; or ``"subtracted"``, all of them from everything
            that is kept; or ``"shape"``, none, nor what has a parameter's shape.
        size: of a tensor: its ``"storage"`` or only its own ``"elements"``.
        given: whether x and y count.
        loss: whether what the loss keeps is seen.
        unit: ``"bytes"``, ``"elements"`` counted as if they were bytes, or ``"four"`` bytes for each.
    """

    once: str = "storage"
    graph: bool = True
    parameters: str = "none"
    size: str = "storage"
    given: bool = True
    loss: bool = True
    unit: str = "bytes"


CHOICES: dict[str, dict] = {
    "once": {"storage": (), "start": ("counts-twice",), "never": ("counts-twice",), "size": ("sizes-merged",)},
    "graph": {True: (), False: ("graph-left-out",)},
    "parameters": {
        "none": (),
        "frozen": ("counts-parameters",),
        "all": ("counts-parameters",),
        "subtracted": ("parameters-subtracted",),
        "shape": ("parameters-by-shape",),
    },
    "size": {"storage": (), "elements": ("views-cut-short",)},
    "given": {True: (), False: ("inputs-left-out",)},
    "loss": {True: (), False: ("loss-not-watched",)},
    "unit": {"bytes": (), "elements": ("elements-not-bytes",), "four": ("elements-not-bytes",)},
}
"""For each attribute of a policy its values and the mistakes they are."""


def due_bytes(trial: SavedTrial) -> int:
    """What the right count is."""
    return predict(Policy(), keep(trial))


def name_count(counts: Mapping[SavedTrial, float]) -> tuple[str, ...] | None:
    """The slugs of the policy with the fewest mistakes that yields all these numbers, or None if none does."""
    if counts and not any(counts.values()):
        return ("nothing-saved",)
    kept = {trial: keep(trial) for trial in counts}
    for policy, slugs in policies():
        if all(predict(policy, kept[trial]) == found for trial, found in counts.items()):
            return slugs
    return None


def policies() -> Iterator[tuple[Policy, tuple[str, ...]]]:
    """All policies with the mistakes they make, fewest first."""
    names = [field.name for field in fields(Policy)]
    everything = []
    for values in itertools.product(*(CHOICES[name] for name in names)):
        policy = Policy(*values)
        slugs = itertools.chain.from_iterable(CHOICES[name][value] for name, value in zip(names, values, strict=True))
        if policy.once == "start" and policy.size == "elements":  # every slice with its own bytes: nothing counts twice
            slugs = (slug for slug in slugs if slug != "counts-twice")
        everything.append((policy, tuple(dict.fromkeys(slugs))))
    yield from sorted(everything, key=lambda entry: len(entry[1]))


def keep(trial: SavedTrial) -> Forward:
    """Run the trial's forward pass and note what autograd keeps."""
    model, (x, y) = trial.model(), trial.batch()
    prediction, before_loss = saved_tensors(lambda: model(x))
    loss, by_loss = saved_tensors(lambda: trial.loss_fn(prediction, y))
    parameters = {storage_key(p): "trainable" if p.requires_grad else "frozen" for p in model.parameters()}
    shapes = {shape for p in model.parameters() for shape in (p.shape, p.shape[::-1])}
    notes = []
    for place, tensor in enumerate([*before_loss, *by_loss]):
        key = storage_key(tensor)
        notes.append(
            Kept(
                storage=key,
                storage_bytes=tensor.untyped_storage().nbytes(),
                start=tensor.data_ptr(),
                numel=tensor.numel(),
                parameter=parameters.get(key, ""),
                lookalike=tensor.shape in shapes,
                given=key in (storage_key(x), storage_key(y)),
                by_loss=place >= len(before_loss),
                in_graph=tensor.requires_grad,
            )
        )
    assert loss.requires_grad  # and with its graph everything kept stays alive until here, so no address is used twice
    return Forward(tuple(notes), sum(p.numel() for p in model.parameters()), x.element_size())


def predict(policy: Policy, forward: Forward) -> int:
    """The number a policy yields."""
    total, seen = 0, set()
    everything = ("", "frozen", "trainable")
    counted = {"none": ("",), "shape": ("",), "frozen": ("", "frozen")}.get(policy.parameters, everything)
    unit = {"bytes": forward.itemsize, "elements": 1, "four": 4}[policy.unit]
    for note in forward.kept:
        if policy.parameters == "shape" and note.lookalike:
            continue
        if note.parameter not in counted or (note.given and not policy.given) or (note.by_loss and not policy.loss):
            continue
        if note.in_graph and not policy.graph:
            continue
        elements = note.numel if policy.size == "elements" else note.storage_bytes // forward.itemsize
        key = {"storage": note.storage, "start": note.start, "never": len(seen), "size": elements}[policy.once]
        if key in seen:
            continue
        seen.add(key)
        total += elements * unit
    return total - forward.parameter_elements * unit * (policy.parameters == "subtracted")
