"""What is right in a model whose BatchNorms were replaced: each function looks at one thing, for one trial.

Each returns what is wrong, for the student, or nothing, and enters the slugs of the mistakes it recognizes.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from autograder.contract.observation import Observation
from autograder.exercises.unit_07_when_equivalence_breaks.observing import Layers, NormTrial, batchnorms, layers_of, measure


def why_no_model(seen: Observation) -> str:
    """Why there is nothing to look at, if there is not."""
    if seen.failure:
        return seen.failure.message
    return f"Your function returned {seen.facts['type']} where a model was due." if "type" in seen.facts else ""


def _is_group(seen: Observation, path: str) -> bool:
    return seen.facts["layers"].get(path, {}).get("kind") == "GroupNorm"


def replaced(trial: NormTrial, seen: Observation, slugs: list[str]) -> str:
    """Whether every BatchNorm is a GroupNorm with the right number of groups, and everything else is what it was."""
    model = trial.model()
    old, due, found = batchnorms(model), layers_of(model), seen.facts["layers"]
    state = model.state_dict()
    others = {name for name in state if name.rpartition(".")[0] not in old}
    kept = all(near(seen.tensors.get(f"state/{name}"), state[name]) for name in others)
    if not kept or {p: found.get(p) for p in due if p not in old} != {p: due[p] for p in due if p not in old}:
        slugs.append("changes-other-layers")
        return "Something else than a BatchNorm is not what it was."
    if found.keys() != due.keys():
        return "The result has other layers than the given model."
    if still := [path for path in old if found[path]["kind"].startswith("BatchNorm")]:
        return f"There is still a {found[still[0]]['kind']} at {still[0]!r}: that is model.get_submodule({still[0]!r})."
    kinds = {found[path]["kind"] for path in old}
    if kinds != {"GroupNorm"}:
        slugs.append("not-groupnorm")
        return "A BatchNorm became something else than a GroupNorm."
    if any(found[path]["groups"] != trial.num_groups for path in old):
        slugs.append("wrong-groups")
        return "A GroupNorm has another number of groups than was asked for."
    return ""


def left_over(trials: Mapping[str, NormTrial], observations: Mapping[str, Observation]) -> list[str]:
    """Why some BatchNorms are still there: all that are deep, all of one kind, all, or new layers got a path as name."""
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


def weights_kept(trial: NormTrial, seen: Observation, slugs: list[str]) -> str:
    """Whether each GroupNorm has the affine weights of its BatchNorm, in the same dtype and place."""
    model = trial.model()
    groups = {path: layer for path, layer in batchnorms(model).items() if _is_group(seen, path)}
    if not groups:
        return "There is no GroupNorm whose weights could be looked at." if trial.kind == "flat" else ""
    state = model.state_dict()
    for path, old in groups.items():
        if not old.affine and seen.facts["layers"][path]["affine"]:
            slugs.append("adds-affine")
            return "A layer without weight and bias has been given some."
        for name in (f"{path}.weight", f"{path}.bias") if old.affine else ():
            found, due = seen.tensors.get(f"state/{name}"), state[name]
            if not near(found, due):
                slugs.append("loses-affine")
                return "A GroupNorm's weight or bias is not the BatchNorm's."
            if seen.facts["places"].get(name) != [str(due.dtype), due.device.type]:
                slugs.append("wrong-dtype")
                return "A GroupNorm's weight is not in the dtype or on the device of the BatchNorm's."
    return ""


def original_kept(trial: NormTrial, seen: Observation, slugs: list[str]) -> str:
    """Whether the given model is what it was and shares nothing with the result."""
    model = trial.model()
    if not any(_is_group(seen, path) for path in batchnorms(model)):
        return (
            "Nothing was replaced, so this shows nothing." if not seen.facts["same"] else "You return the given model itself."
        )
    state = model.state_dict()
    same = all(torch.equal(seen.tensors.get(f"given/{name}", torch.empty(0)), value.cpu()) for name, value in state.items())
    if seen.facts["given"] != layers_of(model) or not same:
        slugs.append("mutates-original")
        return "The given model is not what it was."
    if seen.facts["shared"]:
        slugs.append("shares-parameters")
        return "The result shares parameters with the given model: training one changes the other."
    modes = dict(zip(("mode-changed", "result-in-other-mode"), seen.facts["modes"], strict=True))
    if changed := [slug for slug, mode in modes.items() if mode != trial.training]:
        slugs += changed
        return "The mode (training or evaluation) is not the one the given model was in."
    return ""


def adds_up(trial: NormTrial, seen: Observation, slugs: list[str]) -> str:
    """Whether micro-batch gradients add up to the large batch's, in a model that computes what its layers say."""
    found = seen.tensors
    if not {"outputs", "large", "accumulated"} <= found.keys():
        return "The result cannot be run."
    if not near(found["accumulated"], found["large"]):
        return "Accumulated over micro-batches, the result's gradient is not the large batch's."
    if same_model_computes(trial, seen):
        return ""
    if seen.facts.get("frozen"):
        slugs.append("froze-affine")
        return "A weight or bias of the result takes no gradient, while those of the given model do."
    return "The result computes something else than its layers say."


NEAR = 1e-4
"""Relative difference up to which two float32 results are the same: rounding leaves 1e-6, BatchNorm in training above 1e-2."""


def rebuild(trial: NormTrial, layers: Layers, state: Mapping[str, Tensor]) -> nn.Module:
    """The trial's model with the GroupNorms that are said to be in it, and their weights, where that can be."""
    model = copy.deepcopy(trial.model())
    for path, old in batchnorms(model).items():
        said = layers.get(path, {})
        if said.get("kind") != "GroupNorm" or not _divides(said.get("groups"), old.num_features):
            continue
        new = nn.GroupNorm(said["groups"], old.num_features, affine=bool(said.get("affine")))
        values = {name: state.get(f"{path}.{name}") for name, _ in new.named_parameters()}
        for name, parameter in new.named_parameters():
            if values[name] is not None and values[name].shape == parameter.shape:
                parameter.data = values[name].float()
        parent, _, child = path.rpartition(".")
        setattr(model.get_submodule(parent), child, new.to(trial.device))
    return model


def same_model_computes(trial: NormTrial, seen: Observation) -> bool:
    """Whether what was measured is what the model that was brought back computes."""
    state = {name.removeprefix("state/"): value for name, value in seen.tensors.items() if name.startswith("state/")}
    due = measure(rebuild(trial, seen.facts["layers"], state), trial)
    return all(near(seen.tensors.get(name), value) for name, value in due.items())


def near(found: Tensor | None, due: Tensor) -> bool:
    """Whether two tensors agree up to rounding."""
    if found is None or found.shape != due.shape or not torch.isfinite(found).all():
        return False
    return float((found.double() - due.double().cpu()).norm()) <= NEAR * float(due.double().norm())


def _divides(groups: Any, channels: int) -> bool:
    return isinstance(groups, int) and 0 < groups <= channels and channels % groups == 0
