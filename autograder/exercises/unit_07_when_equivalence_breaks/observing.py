"""Giving a function a model with BatchNorm layers, and recording the model that it returns.

A model crosses the border between processes as plain data: the kind of every layer by its path, and the values of its state.
Judging rebuilds the model from these, so that the outputs and gradients measured here can be checked against it.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.contract.observation import Failure, Observation
from autograder.observing.calls import CallTrial, Plain, observe_call, observe_number, plain
from autograder.observing.student_calls import CHANGED
from gradaccum.components import COMPONENTS
from gradaccum.memory import storage_key

CHANNELS, FEATURES, SAMPLES, STEPS = 12, 5, 12, 4

MAX_SETTINGS = 200
"""Characters of a layer's settings that are noted. Those of the layers here have fewer than a hundred."""

Layers = dict[str, dict[str, Any]]
"""By path, the ``kind`` of each layer; for a GroupNorm also its ``groups`` and ``channels``, its ``eps`` and whether it is
``affine``; for other layers the ``settings`` that torch shows of them, such as a probability."""


@dataclass(frozen=True)
class NormTrial:
    """A model with BatchNorm layers, made from a seed.

    Attributes:
        kind: ``"flat"`` (BatchNorm1d among the direct children), ``"deep"`` (in blocks within blocks, one of which holds a
            list; one BatchNorm is frozen, and two layers share a weight), ``"conv"`` (BatchNorm2d as well, one with
            twice as many channels, one BatchNorm without running statistics, and other layers that are related), ``"double"``
            (float64 after a first layer in float32, one layer without affine weights) or ``"none"`` (no BatchNorm).
        num_groups: of the GroupNorms that are to replace BatchNorm.
        training: the mode the model is in.
    """

    kind: str
    seed: int
    num_groups: int
    device: str
    training: bool = True

    def model(self) -> nn.Module:
        """A fresh model, the same on every call.

        Affine weights and running statistics differ from their initial values, the bias of the first layer is frozen, and
        ``.grad`` of all other parameters holds something.
        """
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            dtype = torch.float64 if self.kind == "double" and not self.device.startswith("mps") else torch.float32
            model = MODELS[self.kind]().to(dtype)
            for layer in batchnorms(model).values():
                if layer.affine:
                    layer.weight.data.uniform_(0.5, 1.5)
                    layer.bias.data.normal_()
                if layer.running_mean is not None and layer.running_var is not None:
                    layer.running_mean.normal_()
                    layer.running_var.uniform_(0.5, 2.0)
            for other in model.modules():  # relatives of BatchNorm keep statistics as well
                if isinstance(other, nn.BatchNorm3d | nn.SyncBatchNorm | nn.InstanceNorm2d):
                    for buffer in other.buffers():
                        buffer.add_(3)
        model.to(self.device).train(self.training)
        first = next(module for module in model.modules() if isinstance(module, nn.Linear | nn.Conv2d)).float()
        first.get_parameter("bias").requires_grad_(False)
        if self.kind == "deep":
            model.get_submodule(FROZEN_NORM).requires_grad_(False)
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter) if parameter.requires_grad else None
        return model

    def batch(self) -> tuple[Tensor, Tensor]:
        """One large batch of 12 samples and their targets ``(12, 2)``."""
        generator = torch.Generator().manual_seed(self.seed + 1)
        shape = (SAMPLES, FEATURES, 4, 4) if self.kind == "conv" else (SAMPLES, FEATURES)
        x, y = torch.randn(shape, generator=generator), torch.randn((SAMPLES, 2), generator=generator)
        return x.to(self.device), y.to(self.device)


class Chain(nn.Module):
    """Layers one after the other, in a list: containers other than ``Sequential`` hold BatchNorms as well."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Residual(nn.Module):
    """A block with one BatchNorm1d in a branch and one after it, a parameter of its own, and no layer where one may be."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.register_module("shortcut", None)
        self.branch = nn.Sequential(nn.Linear(CHANNELS, CHANNELS), nn.BatchNorm1d(CHANNELS), nn.Tanh())
        self.norm = nn.BatchNorm1d(CHANNELS)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x + self.scale * self.branch(x))


def _flat() -> nn.Module:
    norms = nn.BatchNorm1d(CHANNELS), nn.LayerNorm(CHANNELS)
    return nn.Sequential(nn.Linear(FEATURES, CHANNELS), norms[0], nn.ReLU(inplace=True), norms[1], nn.Linear(CHANNELS, 2))


FROZEN_NORM = "2.norm"
"""Path of a BatchNorm in the deep model whose weight and bias take no gradient."""


def _deep() -> nn.Module:
    block, linear = Residual(), nn.Linear(CHANNELS, CHANNELS)
    linear.weight = block.branch.get_parameter("0.weight")
    inner = nn.Sequential(Chain(nn.BatchNorm1d(CHANNELS), nn.Tanh()), linear)
    first = nn.Linear(FEATURES, CHANNELS), nn.BatchNorm1d(CHANNELS)
    return nn.Sequential(*first, block, inner, nn.GroupNorm(1, CHANNELS), nn.Linear(CHANNELS, 2))


class Relatives(nn.Module):
    """Holds layers that are related to BatchNorm1d and BatchNorm2d, and a dropout, and lets everything through."""

    def __init__(self) -> None:
        super().__init__()
        self.dropout = nn.Dropout()
        self.volumes, self.ranks = nn.BatchNorm3d(CHANNELS), nn.SyncBatchNorm(CHANNELS)
        self.instances = nn.InstanceNorm2d(CHANNELS, affine=True, track_running_stats=True)

    def forward(self, x: Tensor) -> Tensor:
        return x


def _conv() -> nn.Module:
    first = nn.Conv2d(FEATURES, CHANNELS, 3, padding=1), nn.BatchNorm2d(CHANNELS), nn.Tanh()
    named = {"conv": nn.Conv2d(CHANNELS, 2 * CHANNELS, 3), "norm": nn.BatchNorm2d(2 * CHANNELS), "act": nn.Tanh()}
    block = nn.Sequential(OrderedDict(named))
    return nn.Sequential(
        *first,
        Relatives(),
        block,
        nn.Flatten(),
        nn.Linear(4 * 2 * CHANNELS, CHANNELS),
        nn.BatchNorm1d(CHANNELS, track_running_stats=False),
        nn.Linear(CHANNELS, 2),
    )


def _double() -> nn.Module:
    plain = nn.BatchNorm1d(CHANNELS, affine=False)
    return nn.Sequential(nn.Linear(FEATURES, CHANNELS), nn.BatchNorm1d(CHANNELS), nn.Tanh(), plain, nn.Linear(CHANNELS, 2))


def _none() -> nn.Module:
    return nn.Sequential(nn.Linear(FEATURES, CHANNELS), nn.LayerNorm(CHANNELS), nn.Tanh(), nn.Linear(CHANNELS, 2))


MODELS: dict[str, Callable[[], nn.Module]] = {"flat": _flat, "deep": _deep, "conv": _conv, "double": _double, "none": _none}


def batchnorms(model: nn.Module) -> dict[str, nn.BatchNorm1d | nn.BatchNorm2d]:
    """The layers of a model that are to be replaced, by path."""
    return {path: layer for path, layer in model.named_modules() if isinstance(layer, nn.BatchNorm1d | nn.BatchNorm2d)}


def layers_of(model: nn.Module) -> Layers:
    """The layers of a model as plain data.

    A path occurs twice if ``setattr(model, "1.0", layer)`` has made a child with that name: the first layer counts. A layer
    that stands in several places counts in each.
    """
    layers: Layers = {}
    for path, module in model.named_modules(remove_duplicate=False):
        layers.setdefault(path, _layer(module))
    return layers


def mode_of(model: nn.Module, expected: bool) -> bool:
    """The mode of a model, which is the other one if a part of it is; a GroupNorm is the same in both."""
    parts = (module for module in model.modules() if module is model or not isinstance(module, nn.GroupNorm))
    return expected if all(module.training == expected for module in parts) else not expected


def _layer(module: nn.Module) -> dict[str, Any]:
    if not isinstance(module, nn.GroupNorm):
        return {"kind": type(module).__name__, "settings": module.extra_repr()[:MAX_SETTINGS]}
    both = {"affine": module.weight is not None, "bias": module.bias is not None}
    return {"kind": "GroupNorm", "groups": module.num_groups, "channels": module.num_channels, "eps": float(module.eps)} | both


def frozen_in(model: nn.Module) -> list[str]:
    """The names of the parameters of a model that take no gradient."""
    return [name for name, parameter in model.named_parameters() if not parameter.requires_grad]


def ties_in(model: nn.Module) -> list[list[str]]:
    """The names of parameters, as lists of those that are the same one, of each that has several names."""
    names: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    return sorted(sorted(same) for same in names.values() if len(same) > 1)


def _grads(model: nn.Module) -> list[Tensor]:
    return [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


def same_tensor(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same values in the same dtype."""
    return one.dtype == other.dtype and torch.equal(one, other)


def _grads_kept(given: nn.Module, due: nn.Module) -> bool:
    """Whether ``.grad`` of every parameter holds what it holds in another model with the same parameters."""
    found = dict(given.named_parameters())
    pairs = [(found[name].grad, parameter.grad) for name, parameter in due.named_parameters() if name in found]
    return all(grad is other if grad is None or other is None else same_tensor(grad, other) for grad, other in pairs)


UNFIT = (RuntimeError, TypeError, ValueError, AttributeError, LookupError)
"""What a model raises whose layers do not fit together."""


def observe_replacement(function: Callable, trial: NormTrial) -> Observation:
    """Call the function; return the model it made, what that model computes, and the state of the given model afterwards.

    The function is called once more with the same model, and with a model of another seed: the results must not share anything.
    """
    given = trial.model()
    result = function(given, trial.num_groups)
    if not isinstance(result, nn.Module):
        return Observation(facts={"type": type(result).__name__})
    held = {storage_key(t) for t in (*given.state_dict(keep_vars=True).values(), *_grads(given))}
    state = result.state_dict(keep_vars=True)
    layers, others = layers_of(result), (given, replace(trial, seed=trial.seed + 1).model())
    again = [function(model, trial.num_groups) for model in others]
    held_again = {storage_key(t) for model in again if isinstance(model, nn.Module) for t in model.state_dict().values()}
    facts = {
        "layers": layers,
        "given": layers_of(given),
        "same": result is given,
        "shared": [name for name, tensor in state.items() if storage_key(tensor) in held],
        "grads shared": any(storage_key(gradient) in held for gradient in _grads(result)),
        "tied": ties_in(result),
        "shared again": any(storage_key(tensor) in held_again - held for tensor in state.values()),
        "modes": [mode_of(given, trial.training), mode_of(result, trial.training)],
        "dotted": any("." in name for module in result.modules() for name, _ in module.named_children()),
        "frozen": frozen_in(result),
        "given frozen": frozen_in(given),
        "grads kept": _grads_kept(given, trial.model()),
        "places": {name: [str(tensor.dtype), tensor.device.type] for name, tensor in state.items()},
    }
    tensors = {f"state/{name}": tensor.detach().clone() for name, tensor in state.items()}
    tensors |= {f"given/{name}": tensor.detach().clone() for name, tensor in given.state_dict().items()}
    with contextlib.suppress(*UNFIT):  # layers that do not fit together: judging sees that these tensors are missing
        tensors |= measure(result, trial)
    return Observation(tensors, facts)


def measure(model: nn.Module, trial: NormTrial) -> dict[str, Tensor]:
    """In training mode: the outputs for one large batch, its gradient, and the gradient accumulated over four micro-batches."""
    x, y = (t.to(next(model.parameters()).dtype) for t in trial.batch())
    model.train()
    measured = {"outputs": model(x).detach()}
    for name, steps in (("large", 1), ("accumulated", STEPS)):
        model.zero_grad(set_to_none=True)
        for part_x, part_y in zip(x.chunk(steps), y.chunk(steps), strict=True):
            (F.mse_loss(model(part_x), part_y) / steps).backward()
        gradients = {key: p.grad for key, p in model.named_parameters() if p.grad is not None}
        measured[name] = torch.cat([gradients[key].flatten() for key in sorted(gradients)])
    return measured


def observe_answers(function: Callable, trial: CallTrial) -> Observation:
    """As :func:`observe_call`; an answer that is no plain data is observed as the name of its type.

    A function that changes the components, which it finds in the notebook, has failed.
    """

    def answers() -> object:
        value = function()
        return {key: _plain_or_type(answer) for key, answer in value.items()} if isinstance(value, dict) else value

    components = dict(COMPONENTS)
    try:
        seen = observe_call(answers, trial)
        changed = components != COMPONENTS
    finally:
        COMPONENTS.clear()
        COMPONENTS.update(components)
    return (
        Observation(failure=Failure(CHANGED, "Your function changed COMPONENTS, which other cells use.")) if changed else seen
    )


def _plain_or_type(value: object) -> Plain:
    try:
        return plain(value)
    except TypeError:
        return type(value).__name__


OBSERVERS = {
    "replace_batchnorm": observe_replacement,
    "matched_bn_momentum": observe_number,
    "matched_beta": observe_number,
    "breaks_equivalence": observe_answers,
}
