"""Comparing a model whose BatchNorms were replaced by GroupNorms with the model it was made from.

Each function named ``…_message`` checks one thing on one trial. It returns what is wrong in words for the student, or an empty
string, and most of them append the slugs of the mistakes they recognise to a list.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from autograder.contract.observation import Observation
from autograder.exercises.unit_07_when_equivalence_breaks.observing import (
    CHANNELS,
    Layers,
    NormTrial,
    batchnorms,
    frozen_in,
    layers_of,
    measure,
    same_tensor,
    ties_in,
)
from autograder.judging.returned_kinds import returned_instead


def missing_model_message(seen: Observation) -> str:
    """Why the function returned no model to look at; empty if it returned one."""
    if seen.failure:
        return seen.failure.message
    return returned_instead(seen.facts["type"], "a model") if "type" in seen.facts else ""


def _is_group_norm(seen: Observation, path: str) -> bool:
    return seen.facts["layers"].get(path, {}).get("kind") == "GroupNorm"


def _has(seen: Observation, name: str) -> bool:
    """Whether a GroupNorm of the result has the weight or the bias of this name at all, as a parameter or otherwise."""
    path, _, what = name.rpartition(".")
    return bool(seen.facts["layers"][path].get("affine" if what == "weight" else "bias"))


OTHER_PATHS = "The result does not have its layers at the paths of the given model."


def _left_behind(seen: Observation, path: str) -> bool:
    """Whether the state of a GroupNorm has entries that no GroupNorm has."""
    names = (name.removeprefix(f"state/{path}.") for name in seen.tensors if name.startswith(f"state/{path}."))
    return not {*names} <= {"weight", "bias"}


def replacement_message(trial: NormTrial, seen: Observation, slugs: list[str]) -> str:
    """Check that every BatchNorm is a GroupNorm with the right number of groups, and that everything else is unchanged."""
    model = trial.model()
    old, due, found = batchnorms(model), layers_of(model), seen.facts["layers"]
    state = model.state_dict()
    others = {name for name in state if name.rpartition(".")[0] not in old}
    kept = all(_equal(seen.tensors.get(f"state/{name}"), state[name]) for name in others)
    if found.keys() != due.keys():
        return OTHER_PATHS
    if not kept or {p: found.get(p) for p in due if p not in old} != {p: due[p] for p in due if p not in old}:
        slugs.append("changes-other-layers")
        return "Something other than a BatchNorm1d or BatchNorm2d has changed."
    if left := _still_there(found, old):
        return left
    if any("groups" not in found[path] for path in old):  # a student's own class may have the name of torch's
        slugs.append("not-groupnorm")
        return "A BatchNorm became something other than an nn.GroupNorm."
    if any(found[path].get("groups") != trial.num_groups for path in old):
        slugs.append("wrong-groups")
        return "A GroupNorm does not have the number of groups that was asked for."
    if any(found[path].get("channels") != layer.num_features for path, layer in old.items()):
        return "A GroupNorm does not have the number of channels (num_channels) of the BatchNorm in whose place it is."
    if others & {*seen.facts["frozen"]} != frozen_elsewhere(trial):
        return "Layers that are no BatchNorms do not have the same frozen parameters (requires_grad) as before."
    if seen.facts["tied"] != ties_in(model):
        return "Layers that share a weight in the given model do not share it in the result, or others do."
    if any(found[path].get("eps") != layer.eps for path, layer in old.items()):
        return "A GroupNorm does not have the default eps."
    if any(_left_behind(seen, path) for path in old):
        return "A GroupNorm holds more than a weight and a bias: its state_dict has other entries, as a BatchNorm's has."
    if seen.facts["shared again"]:
        return "Called once more, your function returns layers or tensors that it returned before."
    return ""


def places_message(trial: NormTrial, seen: Observation) -> str:
    """Check that what belongs to other layers is in the dtype and on the device in which it was."""
    model, places = trial.model(), seen.facts["places"]
    norms = batchnorms(model)
    for name, tensor in model.state_dict().items():
        due = [str(tensor.dtype), tensor.device.type]
        found = places.get(name, due)
        if name.rpartition(".")[0] not in norms and found != due:
            now, before = (f"{dtype.removeprefix('torch.')} on {device!r}" for dtype, device in (found, due))
            return f"In the result {name!r}, which belongs to no BatchNorm, is in {now}, and not in {before} as it was."
    return ""


def _still_there(found: Layers, old: Iterable[str]) -> str:
    """That there is still a BatchNorm at one of these paths; empty if there is none."""
    kinds = {path: found[path]["kind"] for path in old if path in found}
    left = next((path for path, kind in kinds.items() if kind.startswith("BatchNorm")), None)
    return "" if left is None else f"There is still a {kinds[left]} at {left!r}: that is model.get_submodule({left!r})."


def leftover_slugs(trials: Mapping[str, NormTrial], observations: Mapping[str, Observation]) -> list[str]:
    """The mistakes that explain which BatchNorms are still there.

    These may be all of them, all below the top level, or all of one kind; or new layers were given a path as their name.
    """
    every = {
        (name, path): type(layer).__name__
        for name, trial in trials.items()
        if "layers" in observations[name].facts
        for path, layer in batchnorms(trial.model()).items()
    }
    left = {(n, p) for n, p in every if observations[n].facts["layers"].get(p, {}).get("kind", "").startswith("BatchNorm")}
    if left and any(seen.facts.get("dotted") for seen in observations.values()):
        return ["path-as-name"]
    if left and left == set(every):
        return ["nothing-replaced"]
    reasons = {
        "shallow-replace": {(n, p) for n, p in every if "." in p},
        "misses-batchnorm2d": {place for place, kind in every.items() if kind == "BatchNorm2d"},
        "misses-batchnorm1d": {place for place, kind in every.items() if kind == "BatchNorm1d"},
    }
    there = {slug: places for slug, places in reasons.items() if places and places <= left}
    return list(there) if left and set().union(*there.values()) == left else []


def affine_message(trial: NormTrial, seen: Observation, slugs: list[str]) -> str:
    """Check that each GroupNorm has the weight and bias of its BatchNorm, in the same dtype and on the same device."""
    model = trial.model()
    groups = {path: layer for path, layer in batchnorms(model).items() if _is_group_norm(seen, path)}
    if not groups:
        return (
            "In one of the results no BatchNorm has become a GroupNorm in its place, so no weights could be compared."
            if trial.kind == "flat"
            else ""
        )
    state = model.state_dict()
    for path, old in groups.items():
        added = [what for what in ("weight", "bias") if not old.affine and _has(seen, f"{path}.{what}")]
        if added:
            slugs.append("adds-affine")
            return f"A layer without weight and bias has been given a {' and a '.join(added)}."
        for name in (f"{path}.weight", f"{path}.bias") if old.affine else ():
            found, due = seen.tensors.get(f"state/{name}"), state[name]
            if found is None and _has(seen, name):
                return NO_PARAMETER
            if not _near(found, due) and seen.facts["layers"].keys() != layers_of(model).keys():
                return OTHER_PATHS  # what is at this path may have come from another
            if name == f"{path}.weight" and _near(found, state[f"{path}.bias"]):
                return "A GroupNorm's weight is the BatchNorm's bias."
            if not _near(found, due, WITH_FEW_DIGITS):
                slugs.append("loses-affine")
                return "A GroupNorm's weight or bias is not the BatchNorm's."
            if seen.facts["places"].get(name) != [str(due.dtype), due.device.type]:
                slugs.append("wrong-dtype")
                return "A GroupNorm's weight or bias is not in the dtype or on the device of the BatchNorm's."
            if not _equal(found, due):
                return (
                    "A GroupNorm's weight or bias is close to the BatchNorm's but not equal to it, as if digits had been lost."
                )
    return ""


def original_message(trial: NormTrial, seen: Observation, slugs: list[str]) -> str:
    """Check that the given model is unchanged and shares no tensor with the result."""
    model = trial.model()
    norms = batchnorms(model)
    if norms and not any(_is_group_norm(seen, path) for path in norms):
        return (
            "In one of the results no BatchNorm has become a GroupNorm in its place, so this part is not judged yet."
            if not seen.facts["same"]
            else "You return the given model itself."
        )
    state = model.state_dict()
    same = all(same_tensor(seen.tensors.get(f"given/{name}", torch.empty(0)), value.cpu()) for name, value in state.items())
    if seen.facts["given"] != layers_of(model) or not same:
        slugs.append("mutates-original")
        return "The given model has changed."
    if seen.facts["given frozen"] != frozen_in(model):
        slugs.append("mutates-original")
        return "The given model does not have the same frozen parameters (requires_grad) as before."
    if not seen.facts["grads kept"]:
        slugs.append("mutates-original")
        return ".grad of the given model's parameters is not what it was."
    if shared := {*seen.facts["shared"]}:
        if shared.isdisjoint(name for name, _ in model.named_parameters()):
            return "The result shares buffers with the given model: what one writes into them changes the other."
        slugs.append("shares-parameters")
        return "The result shares parameters with the given model: what changes one changes the other."
    if seen.facts["grads shared"]:
        return "The result shares .grad with the given model: what is added to one is added to the other."
    modes = dict(zip(("mode-changed", "result-in-other-mode"), seen.facts["modes"], strict=True))
    if changed := [slug for slug, mode in modes.items() if mode != trial.training]:
        slugs += changed
        return "The mode (training or evaluation) of a model, or of a part of it, is not the one the given model was in."
    return ""


def addition_message(trial: NormTrial, seen: Observation, slugs: list[str]) -> str:
    """Check that micro-batch gradients add up to the large batch's, in a model that computes what one with GroupNorms does."""
    found = seen.tensors
    if not {"outputs", "large", "accumulated"} <= found.keys():
        return "The result cannot be run, or its loss has no gradient."
    if any(layer.get("groups") == CHANNELS for layer in seen.facts["layers"].values()):
        return ""  # one channel a group leaves nothing but rounding of a gradient, and the groups have cost a point already
    if not _near(found["accumulated"], found["large"]):
        return "In training mode, the result's gradient accumulated over micro-batches is not the large batch's."
    if not all("groups" in seen.facts["layers"].get(path, {}) for path in batchnorms(trial.model())):
        return "Not every BatchNorm has become an nn.GroupNorm in its place, so what the result computes cannot be checked."
    if seen.facts["tied"] != ties_in(trial.model()) or same_model_computes(trial, seen):  # ties cost a point already
        return ""
    if new := {*seen.facts["frozen"]} - {*frozen_in(trial.model())}:
        norms = batchnorms(trial.model())
        slugs += ["froze-affine"] * any(name.rpartition(".")[0] in norms for name in new)
        return "A weight or bias of the result takes no gradient, while those of the given model do."
    if frozen_elsewhere(trial) - {*seen.facts["frozen"]}:
        return "A parameter of the result takes a gradient, although it is frozen in the given model."
    names = (f"{path}.{name}" for path in batchnorms(trial.model()) for name in ("weight", "bias"))
    if any(_has(seen, name) and f"state/{name}" not in seen.tensors for name in names):
        return NO_PARAMETER
    return "The result does not compute what the given model does with a GroupNorm in the place of each BatchNorm."


def frozen_elsewhere(trial: NormTrial) -> set[str]:
    """The names of the frozen parameters that are no BatchNorm's: those of a frozen BatchNorm may take a gradient again."""
    model = trial.model()
    norms = batchnorms(model)
    return {name for name in frozen_in(model) if name.rpartition(".")[0] not in norms}


NO_PARAMETER = "A GroupNorm's weight or bias is no parameter of the result (`nn.Parameter`), so no optimizer can train it."


TOLERANCE = 1e-4
"""Relative difference up to which two float32 results are the same: rounding leaves 1e-6, BatchNorm in training above 1e-2."""

WITH_FEW_DIGITS = 1e-2
"""The same for numbers that were in bfloat16 in between."""


def rebuild(trial: NormTrial, layers: Layers, state: Mapping[str, Tensor], frozen: Iterable[str] = ()) -> nn.Module:
    """The trial's model with the GroupNorms that are said to be in it and their weights, as far as these fit the model.

    What is frozen in a BatchNorm may be frozen in its GroupNorm.
    """
    model = copy.deepcopy(trial.model())
    stay_frozen = {*frozen} & {*frozen_in(model)}
    for path, old in batchnorms(model).items():
        said = layers.get(path, {})
        if said.get("kind") != "GroupNorm" or not _divides(said.get("groups"), old.num_features):
            continue
        new = nn.GroupNorm(said["groups"], old.num_features, affine=bool(said.get("affine")))
        if not said.get("bias"):
            new.register_parameter("bias", None)
        for name, parameter in new.named_parameters():
            value = state.get(f"{path}.{name}")
            if value is not None and value.shape == parameter.shape:
                parameter.data = value.float()
            parameter.requires_grad = f"{path}.{name}" not in stay_frozen
        parent, _, child = path.rpartition(".")
        setattr(model.get_submodule(parent), child, new.to(trial.device))
    return model


def same_model_computes(trial: NormTrial, seen: Observation) -> bool:
    """Whether the measured outputs and gradients are those of a model with the layers and the state that were observed."""
    state = {name.removeprefix("state/"): value for name, value in seen.tensors.items() if name.startswith("state/")}
    due = measure(rebuild(trial, seen.facts["layers"], state, seen.facts["frozen"]), trial)
    return all(_near(seen.tensors.get(name), value) for name, value in due.items())


def _near(found: Tensor | None, due: Tensor, tolerance: float = TOLERANCE) -> bool:
    """Whether a tensor was found and agrees with the one due up to rounding."""
    if found is None or found.shape != due.shape or not torch.isfinite(found).all():
        return False
    return float((found.double() - due.double().cpu()).norm()) <= tolerance * float(due.double().norm())


def _equal(found: Tensor | None, due: Tensor) -> bool:
    """Whether a tensor was found and has exactly the values of the one due, as a copy has."""
    return found is not None and torch.equal(found.double(), due.double().cpu())


def _divides(groups: Any, channels: int) -> bool:
    return isinstance(groups, int) and 0 < groups <= channels and channels % groups == 0
