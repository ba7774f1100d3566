"""Counting what autograd keeps for the backward pass, in the right way and in every usual wrong way.

A :class:`CountVariant` says what a count takes for a tensor's size, what it leaves out, and what it counts twice; :func:`play`
plays one on what autograd really kept. A wrong number is diagnosed by searching the variant with the fewest mistakes that
yields it on every trial.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import torch

from autograder.exercises.unit_02_memory_limits.observing import SavedTrial
from autograder.judging.number_relations import relation
from gradaccum.diagnosis.search import Candidate, Choices, combinations, first_match
from gradaccum.memory import saved_tensors, storage_key


@dataclass(frozen=True)
class KeptTensor:
    """A tensor that autograd kept, in numbers.

    Attributes:
        storage: identifies the memory it lies in.
        storage_bytes: the size of that memory, which may hold more than this tensor.
        start: address of its first element.
        shape: its own, which other tensors in the same memory need not have.
        numel: number of its elements.
        itemsize: bytes of each.
        floating: whether these are floating-point numbers.
        parameter: ``"trainable"`` or ``"frozen"`` if it is one, else empty.
        starts_parameter: whether it begins where a parameter does.
        shaped_like_parameter: whether it has the shape of one, possibly transposed.
        given: whether it is x or y.
        target: whether it is y.
        buffer: whether it is a buffer of the model.
        by_loss: whether the loss kept it, not the model.
        in_graph: whether it requires a gradient.
        identity: identifies it as an object in Python.
        is_parameter: whether it is a parameter itself, not only a view of one.
    """

    storage: int
    storage_bytes: int
    start: int
    shape: tuple[int, ...]
    numel: int
    itemsize: int
    floating: bool
    parameter: str
    starts_parameter: bool
    shaped_like_parameter: bool
    given: bool
    target: bool
    buffer: bool
    by_loss: bool
    in_graph: bool
    identity: int
    is_parameter: bool


@dataclass(frozen=True)
class Forward:
    """What autograd kept in a forward pass, and how much memory the model's parameters, the loss, x and y take, kept or not."""

    kept: tuple[KeptTensor, ...]
    parameter_elements: int
    itemsize: int
    loss_bytes: int
    given_bytes: int


class CountVariant(NamedTuple):
    """One way to count kept tensors. The defaults are right.

    Attributes:
        once: each ``"storage"``, each ``"start"`` of a tensor in memory, each ``"size"``, or ``"never"``.
        graph: whether tensors that require a gradient count.
        parameters: which of them count: ``"none"``, ``"frozen"`` or ``"all"``; or ``"subtracted"``, all of them from everything
            that is kept; or ``"shape"``, none, nor what has a parameter's shape; or ``"inside"``, those that begin elsewhere.
        size: of a tensor: its ``"storage"`` or only its own ``"elements"``; ``"last"`` if those of the last view replace those
            of earlier ones.
        given: whether x and y count.
        buffers: whether buffers of the model count.
        watched: whether what ``"both"`` keep is seen, or only what the ``"model"`` or the ``"loss"`` keeps.
        unit: ``"bytes"``, ``"elements"`` counted as if they were bytes, or ``"four"`` bytes for each.
    """

    once: str = "storage"
    graph: bool = True
    parameters: str = "none"
    size: str = "storage"
    given: bool = True
    buffers: bool = True
    watched: str = "both"
    unit: str = "bytes"


CHOICES: Choices = {
    "once": {"storage": (), "start": ("counts-twice",), "never": ("counts-twice",), "size": ("sizes-merged",)},
    "graph": {True: (), False: ("graph-left-out",)},
    "parameters": {
        "none": (),
        "frozen": ("counts-parameters",),
        "all": ("counts-parameters",),
        "inside": ("counts-parameters",),
        "subtracted": ("parameters-subtracted",),
        "shape": ("parameters-by-shape",),
    },
    "size": {"storage": (), "elements": ("views-cut-short",), "last": ("views-cut-short",)},
    "given": {True: (), False: ("inputs-left-out",)},
    "buffers": {True: (), False: ("buffers-left-out",)},
    "watched": {"both": (), "model": ("loss-not-watched",), "loss": ("model-not-watched",)},
    "unit": {"bytes": (), "elements": ("elements-not-bytes",), "four": ("elements-not-bytes",)},
}
"""For each attribute of a count its values and the mistakes they are."""


def due_bytes(trial: SavedTrial) -> int:
    """The right number of bytes."""
    return play(CountVariant(), run_forward(trial))


def name_count(counts: Mapping[SavedTrial, float]) -> tuple[str, ...] | None:
    """The fewest mistakes that explain all these numbers of bytes, as slugs, or None if none do."""
    if counts and not any(counts.values()):
        return ("nothing-saved",)
    forwards = {trial: run_forward(trial) for trial in counts}
    if counts and all(count == play(CountVariant(), run_forward(trial, training=False)) for trial, count in counts.items()):
        return ("eval-mode",)
    match = first_match(count_variants(), counts, lambda variant, trial: play(variant, forwards[trial]), operator.eq)
    return match.mistakes if match else None


def count_in_words(counts: Mapping[SavedTrial, float]) -> str:
    """What all these numbers of bytes have in common, as a sentence; empty if nothing known."""
    forwards = {trial: run_forward(trial) for trial in counts}
    for words, count_of in RARE_COUNTS.items():
        if counts and all(count == count_of(forwards[trial]) for trial, count in counts.items()):
            return words
    for words, options in OTHER_FORWARDS.items():
        if counts and all(count == play(CountVariant(), run_forward(trial, **options)) for trial, count in counts.items()):
            return words
    return relation(list(counts.values()), [play(CountVariant(), forward) for forward in forwards.values()])


def _sizes(forward: Forward, which: Callable[[KeptTensor], bool] = lambda tensor: True) -> list[int]:
    """The bytes of each storage that counts, or of some of them."""
    return list({t.storage: t.storage_bytes for t in forward.kept if not t.parameter and which(t)}.values())


RARE_COUNTS: dict[str, Callable[[Forward], int]] = {
    "You return the size of the largest storage, where the sum of all is due.": lambda forward: max(_sizes(forward)),
    "You return the number of storages, where the sum of their bytes is due.": lambda forward: len(_sizes(forward)),
    "You leave out tensors without floating-point numbers, such as masks. Autograd keeps those as well.": lambda forward: sum(
        _sizes(forward, lambda tensor: tensor.floating)
    ),
    "You count what two forward passes of the model keep, where one is due.": lambda forward: (
        sum(_sizes(forward)) + sum(_sizes(forward, lambda tensor: not (tensor.by_loss or tensor.given or tensor.buffer)))
    ),
    "You count the storage of the loss as well, which nothing keeps for the backward pass.": lambda forward: (
        sum(_sizes(forward)) + forward.loss_bytes
    ),
    "You count what requires a gradient only, and no parameters: x, y, masks and buffers are left out.": lambda forward: sum(
        _sizes(forward, lambda tensor: tensor.in_graph)
    ),
    "You leave out y, although autograd keeps it where the loss needs it.": lambda forward: sum(
        _sizes(forward, lambda tensor: not tensor.target)
    ),
    "You leave out x, although autograd keeps it where a layer needs it.": lambda forward: sum(
        _sizes(forward, lambda tensor: tensor.target or not tensor.given)
    ),
    "You add the bytes of all parameters to what autograd keeps.": lambda forward: (
        sum(_sizes(forward)) + forward.parameter_elements * forward.itemsize
    ),
    "You count x and y in any case, although autograd need not keep both.": lambda forward: (
        forward.given_bytes + sum(_sizes(forward, lambda tensor: not tensor.given))
    ),
    "You tell storages apart by the shapes of tensors: of several with tensors of one shape you count one.": lambda forward: (
        sum({t.shape: t.storage_bytes for t in forward.kept if not t.parameter}.values())
    ),
    "You tell storages apart by their sizes and by the shapes of tensors: of several that agree in both you count one.": (
        lambda forward: sum(size for size, _ in {(t.storage_bytes, t.shape) for t in forward.kept if not t.parameter})
    ),
    "You count a storage again for each shape of the tensors in it that are kept.": lambda forward: sum(
        {(t.storage, t.shape): t.storage_bytes for t in forward.kept if not t.parameter}.values()
    ),
    "You tell tensors apart as objects in Python. Several of them may share a storage, and a view of a parameter is no "
    "parameter.": lambda forward: sum({t.identity: t.storage_bytes for t in forward.kept if not t.is_parameter}.values()),
    "You count the tensors that the forward pass makes and that outlive it. The loss is among them, though nothing keeps it "
    "for the backward pass; what was there before, as x and y were, is not.": lambda forward: (
        sum(_sizes(forward, lambda tensor: not (tensor.given or tensor.buffer))) + forward.loss_bytes
    ),
    "You count x as if it filled its storage, as a copy of it does. Autograd keeps all of the storage.": lambda forward: (
        sum(_sizes(forward, lambda tensor: not (tensor.given and tensor.numel * tensor.itemsize < tensor.storage_bytes)))
        + sum(
            {t.start: t.numel * t.itemsize for t in forward.kept if t.given and t.numel * t.itemsize < t.storage_bytes}.values()
        )
    ),
    "You count the loss as well, which nothing keeps for the backward pass.": lambda forward: (
        sum(_sizes(forward)) + forward.itemsize
    ),
}
"""Rarer counts, by what is counted."""

OTHER_FORWARDS: dict[str, dict[str, bool]] = {
    # The frozen layer's input takes as many bytes as what that dropout keeps in training.
    "Your count is that of a model with all of its layers in training mode, or with none of them frozen. One is in evaluation "
    "mode, and one is frozen.": {"training": True},
    "Your count is that of a forward pass in which x requires a gradient, too. It does not.": {"with_x": True},
}
"""Right counts of another forward pass, by what differs in it."""


@cache
def count_variants() -> tuple[Candidate[CountVariant], ...]:
    """All ways to count, with the mistakes they make, fewest mistakes first."""
    return combinations(CountVariant, CHOICES, moot=_moot)


def _moot(variant: CountVariant) -> tuple[str, ...]:
    """If every slice counts with its own bytes, nothing counts twice."""
    return ("counts-twice",) if variant.once == "start" and variant.size != "storage" else ()


def run_forward(trial: SavedTrial, *, training: bool | None = None, with_x: bool = False) -> Forward:
    """Run the trial's forward pass and note what autograd keeps.

    Args:
        trial: the model and the batch.
        training: the mode that all layers are in; each in its own if None.
        with_x: whether x requires a gradient, too.
    """
    model, (x, y) = trial.model(), trial.batch()
    if training is not None:
        model.train(training)
    x.requires_grad_(with_x)
    with torch.random.fork_rng(devices=[]):
        prediction, before_loss = saved_tensors(lambda: model(x))
    loss, by_loss = saved_tensors(lambda: trial.loss_fn(prediction, y))
    parameters = {storage_key(p): "trainable" if p.requires_grad else "frozen" for p in model.parameters()}
    starts = {p.data_ptr() for p in model.parameters()}
    shapes = {shape for p in model.parameters() for shape in (p.shape, p.shape[::-1])}
    kept = []
    for place, tensor in enumerate([*before_loss, *by_loss]):
        key = storage_key(tensor)
        kept.append(
            KeptTensor(
                storage=key,
                storage_bytes=tensor.untyped_storage().nbytes(),
                start=tensor.data_ptr(),
                shape=tuple(tensor.shape),
                numel=tensor.numel(),
                itemsize=tensor.element_size(),
                floating=tensor.is_floating_point(),
                parameter=parameters.get(key, ""),
                starts_parameter=tensor.data_ptr() in starts,
                shaped_like_parameter=tensor.shape in shapes,
                given=key in (storage_key(x), storage_key(y)),
                target=key == storage_key(y),
                buffer=key in map(storage_key, model.buffers()),
                by_loss=place >= len(before_loss),
                in_graph=tensor.requires_grad,
                identity=id(tensor),
                is_parameter=isinstance(tensor, torch.nn.Parameter),
            )
        )
    assert loss.requires_grad  # and with its graph everything kept stays alive until here, so no address is used twice
    elements, loss_bytes = sum(p.numel() for p in model.parameters()), loss.untyped_storage().nbytes()
    given_bytes = sum(given.untyped_storage().nbytes() for given in (x, y))
    return Forward(tuple(kept), elements, x.element_size(), loss_bytes, given_bytes)


def play(variant: CountVariant, forward: Forward) -> int:
    """The number of bytes that such a count yields."""
    sizes: dict[int, int] = {}
    everything = ("", "frozen", "trainable")
    counted = {"none": ("",), "shape": ("",), "frozen": ("", "frozen")}.get(variant.parameters, everything)
    units = {"bytes": forward.itemsize, "elements": 1, "four": 4}
    for tensor in forward.kept:
        if variant.parameters == "shape" and tensor.shaped_like_parameter:
            continue
        if variant.parameters == "inside" and tensor.starts_parameter:
            continue
        if tensor.parameter not in counted or (tensor.given and not variant.given) or (tensor.buffer and not variant.buffers):
            continue
        if variant.watched == ("model" if tensor.by_loss else "loss"):
            continue
        if tensor.in_graph and not variant.graph:
            continue
        elements = tensor.storage_bytes // tensor.itemsize if variant.size == "storage" else tensor.numel
        unit = tensor.itemsize if variant.unit == "bytes" else units[variant.unit]
        key = {"storage": tensor.storage, "start": tensor.start, "never": len(sizes), "size": elements * unit}[variant.once]
        if key not in sizes or variant.size == "last":
            sizes[key] = elements * unit
    return sum(sizes.values()) - forward.parameter_elements * units[variant.unit] * (variant.parameters == "subtracted")
