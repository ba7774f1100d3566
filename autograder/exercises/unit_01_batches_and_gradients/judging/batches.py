"""What a function did with one batch: the gradient it returned, how it moved the model, and what else it changed."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_01_batches_and_gradients.observing import BatchTrial, model_state
from autograder.judging.returned_kinds import returned_instead
from gradaccum.fingerprint import LINEAR
from gradaccum.problems import trainable

CHANCE = {
    "seed": "torch's random numbers, which it seeds",
    "same draws": "the random numbers of the samples, which are the same for all",
}
"""What a function may have done to random numbers, in words."""


def changes(trial: BatchTrial, seen: Observation) -> list[str]:
    """What a function changed: ``"parameters"``, ``".grad"``, ``"mode"`` or ``"requires_grad"``; random numbers; ``"x or y"``.

    Values are compared bit by bit: what is left alone is not rounded.
    """
    model = trial.model()
    tensors, facts = model_state(model)
    changed = []
    for what, prefix in (("parameters", "parameter/"), (".grad", "grad/")):
        was = {name: value for name, value in tensors.items() if name.startswith(prefix)}
        now = {name: value for name, value in seen.tensors.items() if name.startswith(prefix)}
        replaced = what == "parameters" and not seen.facts["own parameters"]
        if replaced or was.keys() != now.keys() or any(not torch.equal(was[name], now[name]) for name in was):
            changed.append(what)
    changed += ["mode"] * (facts["modes"] != seen.facts["modes"])
    thawed = set(facts["trainable"]) ^ set(seen.facts["trainable"])  # of new parameters, some may have new names
    changed += ["requires_grad"] * any(f"parameter/{name}" in tensors.keys() & seen.tensors.keys() for name in thawed)
    changed += [words for what, words in CHANCE.items() if what in seen.facts["chance"]]
    return changed + ["x or y, or whether they take a gradient"] * (not seen.facts["data kept"])


MISSING = "There is no tensor under the name"


def returned_gradient(trial: BatchTrial, seen: Observation) -> Tensor | str:
    """The returned dictionary as one vector ``(P,)`` in the order of the trainable parameters, or what is wrong with it.

    A parameter without a gradient may be missing. A frozen one does not matter here, see :func:`frozen_returned`.
    """
    if "type" in seen.facts:
        return returned_instead(seen.facts["type"], "a dictionary")
    model = trial.model()
    parameters = dict(model.named_parameters())
    needed = _names_with_gradient(trial)
    flat = []
    for name, parameter in parameters.items():
        value = seen.tensors.get(f"returned/{name}")
        if name in needed and value is None:
            return f"{MISSING} {name!r}."
        if value is not None and value.shape != parameter.shape:
            return f"The tensor under the name {name!r} does not have the parameter's shape."
        if name in needed and value is not None and value.dtype != parameter.dtype:
            found, due = (str(dtype).removeprefix("torch.") for dtype in (value.dtype, parameter.dtype))
            return f"The tensor under the name {name!r} is {found}, and the parameter is {due}."
        if parameter.requires_grad:
            flat.append(torch.zeros(parameter.numel()) if value is None else value.reshape(-1))
    returned = [name.removeprefix("returned/") for name in seen.tensors if name.startswith("returned/")]
    unknown = [name for name in (*returned, *seen.facts["no_tensors"]) if name not in parameters]
    if unknown:
        return f"There is no {unknown[0][:40]!r} among the names in named_parameters()."
    return torch.cat([part.double() for part in flat])


def frozen_returned(trial: BatchTrial, seen: Observation) -> bool:
    """Whether the returned dictionary has an entry for a frozen parameter."""
    frozen = [name for name, parameter in trial.model().named_parameters() if not parameter.requires_grad]
    return any(f"returned/{name}" in seen.tensors or name in seen.facts.get("no_tensors", ()) for name in frozen)


def frozen_unmoved(trial: BatchTrial, seen: Observation) -> bool:
    """Whether every frozen parameter is where it was."""
    frozen = {name: p for name, p in trial.model().named_parameters() if not p.requires_grad}
    return all(torch.equal(seen.tensors[f"parameter/{name}"], p.detach().cpu()) for name, p in frozen.items())


def moved_by_old_gradient(trial: BatchTrial, seen: Observation) -> bool:
    """Whether a parameter to which the loss has no gradient has moved along the gradient that its ``.grad`` held before."""
    needed = _names_with_gradient(trial)
    for name, parameter in trial.model().named_parameters():
        if name not in needed and parameter.grad is not None:
            moved = (parameter.detach().cpu() - seen.tensors[f"parameter/{name}"]).reshape(-1)
            old = parameter.grad.cpu().reshape(-1)
            remainder = moved - (moved @ old) / (old @ old) * old
            if moved.any() and remainder.norm() <= LINEAR * moved.norm():
                return True
    return False


def leaves_a_gradient(trial: BatchTrial, seen: Observation) -> bool:
    """Whether ``.grad`` of a trainable parameter is neither absent nor zero."""
    names = [name for name, parameter in trial.model().named_parameters() if parameter.requires_grad]
    return any(bool(seen.tensors[f"grad/{name}"].any()) for name in names if f"grad/{name}" in seen.tensors)


def movement(trial: BatchTrial, seen: Observation) -> Tensor:
    """Trainable parameters before minus after, ``(P,)``, divided by the learning rate."""
    model = trial.model()
    after = dict(model.named_parameters())
    parts = [(p.detach().cpu() - seen.tensors[f"parameter/{name}"]).reshape(-1) for name, p in after.items() if p.requires_grad]
    return torch.cat(parts) / trial.lr


def _names_with_gradient(trial: BatchTrial) -> set[str]:
    """The trainable parameters that the loss depends on."""
    model = trial.model()
    x, y = trial.batch()
    gradients = torch.autograd.grad(trial.loss_fn(model(x), y), trainable(model), allow_unused=True)
    names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    return {name for name, gradient in zip(names, gradients, strict=True) if gradient is not None}
