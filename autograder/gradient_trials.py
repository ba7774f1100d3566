"""Running a student's function on one batch: the gradients it returns, the model it leaves, and which samples are in both.

A batch of n samples is a problem whose micro-batches are single samples. Whatever is made of their gradients g_1 ... g_n,
least squares says how much of each is in it: a mean holds 1/n of every one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.exercise import Observation
from autograder.loop_trials import joined
from gradaccum.fingerprint import LINEAR, as_fraction, batch_gradient
from gradaccum.problems import Problem, flat_gradient, trainable

MATCH = 1e-4
"""Largest difference of a coefficient from its due value. Rounding leaves below 1e-9 in float64, sums in float32 about 1e-6;
the coefficients of different mistakes on batches of 3 to 6 samples differ by more than 1e-2."""


@dataclass(frozen=True)
class BatchTrial:
    """One batch and a model to run it through.

    Attributes:
        problem: of a single epoch, whose micro-batches hold one sample each.
        summed: whether ``loss_fn`` adds the losses of its samples instead of averaging them.
        training: the mode the model is in.
        lr: a learning rate, for functions that take one.
    """

    problem: Problem
    summed: bool = False
    training: bool = True
    lr: float = 0.1

    @property
    def samples(self) -> int:
        return len(self.problem.epochs[0])

    def model(self) -> nn.Module:
        return self.problem.build_model().train(self.training)

    def loss_fn(self, prediction: Tensor, target: Tensor) -> Tensor:
        """Squared error: its mean, or its sum if the trial is ``summed``."""
        return F.mse_loss(prediction, target, reduction="sum" if self.summed else "mean")

    def batch(self) -> tuple[Tensor, Tensor]:
        return joined(self.problem.batches())


def observe_gradients(function: Callable, trial: BatchTrial) -> Observation:
    """Call ``function(model, loss_fn, x, y)``; bring back the tensors it returned by name, and the model."""
    model = trial.model()
    returned = function(model, trial.loss_fn, *trial.batch())
    tensors, facts = _left_behind(model)
    if not isinstance(returned, dict):
        return Observation(tensors, facts | {"type": type(returned).__name__})
    found = {str(name): value for name, value in returned.items() if isinstance(value, Tensor)}
    tensors |= {f"returned/{name}": value.detach().cpu() for name, value in found.items()}
    facts["no_tensors"] = [str(name) for name in returned if str(name) not in found]
    return Observation(tensors, facts)


def observe_step(function: Callable, trial: BatchTrial) -> Observation:
    """Call ``function(model, loss_fn, x, y, lr)``; bring back the number it returned and the model."""
    model = trial.model()
    returned = function(model, trial.loss_fn, *trial.batch(), trial.lr)
    tensors, facts = _left_behind(model)
    try:
        facts["loss"] = float(returned)
    except (TypeError, ValueError, RuntimeError):
        facts["type"] = type(returned).__name__
    return Observation(tensors, facts)


def _left_behind(model: nn.Module) -> tuple[dict[str, Tensor], dict]:
    """The model as the function left it: parameters, gradients that are there, and modes."""
    tensors = {f"parameter/{name}": p.detach().cpu().clone() for name, p in model.named_parameters()}
    tensors |= {f"grad/{name}": p.grad.detach().cpu().clone() for name, p in model.named_parameters() if p.grad is not None}
    modes = [module.training for module in model.modules()]
    return tensors, {"modes": modes, "trainable": [name for name, p in model.named_parameters() if p.requires_grad]}


def changes(trial: BatchTrial, seen: Observation) -> list[str]:
    """What of a model is not as it was: ``"parameters"``, ``".grad"``, ``"mode"`` or ``"requires_grad"``.

    Compared bit by bit: what is left alone does not round.
    """
    model = trial.model()
    tensors, facts = _left_behind(model)
    changed = []
    for what, prefix in (("parameters", "parameter/"), (".grad", "grad/")):
        was = {name: value for name, value in tensors.items() if name.startswith(prefix)}
        now = {name: value for name, value in seen.tensors.items() if name.startswith(prefix)}
        if was.keys() != now.keys() or any(not torch.equal(was[name], now[name]) for name in was):
            changed.append(what)
    changed += ["mode"] * (facts["modes"] != seen.facts["modes"])
    return changed + ["requires_grad"] * (facts["trainable"] != seen.facts["trainable"])


def returned_gradient(trial: BatchTrial, seen: Observation) -> Tensor | str:
    """The returned dictionary as one vector ``(P,)`` in the order of the trainable parameters, or what is wrong with it.

    A parameter without a gradient may be missing. A frozen one does not matter here, see :func:`frozen_returned`.
    """
    if "type" in seen.facts:
        return f"Your function returned {seen.facts['type']} where a dictionary was due."
    model = trial.model()
    parameters = dict(model.named_parameters())
    needed = _names_with_gradient(trial)
    flat = []
    for name, parameter in parameters.items():
        value = seen.tensors.get(f"returned/{name}")
        if name in needed and value is None:
            return f"There is no tensor under the name {name!r}."
        if value is not None and value.shape != parameter.shape:
            return f"Under the name {name!r} there is a tensor of another shape than the parameter's."
        if parameter.requires_grad:
            flat.append(torch.zeros(parameter.numel()) if value is None else value.reshape(-1))
    dtype = trial.problem.torch_dtype
    strangers = [name for name in seen.tensors if name.startswith("returned/") and name[9:] not in parameters]
    if strangers:
        return f"There is no parameter called {strangers[0][9:][:40]!r}."
    return torch.cat([part.to(dtype) for part in flat])


def frozen_returned(trial: BatchTrial, seen: Observation) -> bool:
    """Whether the returned dictionary has an entry for a frozen parameter."""
    frozen = [name for name, parameter in trial.model().named_parameters() if not parameter.requires_grad]
    return any(f"returned/{name}" in seen.tensors or name in seen.facts.get("no_tensors", ()) for name in frozen)


def frozen_unmoved(trial: BatchTrial, seen: Observation) -> bool:
    """Whether every frozen parameter is where it was."""
    frozen = {name: p for name, p in trial.model().named_parameters() if not p.requires_grad}
    return all(torch.equal(seen.tensors[f"parameter/{name}"], p.detach().cpu()) for name, p in frozen.items())


def movement(trial: BatchTrial, seen: Observation) -> Tensor:
    """Trainable parameters before minus after, ``(P,)``, divided by the learning rate."""
    model = trial.model()
    after = dict(model.named_parameters())
    parts = [(p.detach().cpu() - seen.tensors[f"parameter/{name}"]).reshape(-1) for name, p in after.items() if p.requires_grad]
    return torch.cat(parts) / trial.lr


@dataclass(frozen=True)
class Mixture:
    """How much of each sample's gradient is in a vector.

    Attributes:
        samples: ``(n,)`` coefficients.
        stale: coefficient of what ``.grad`` held before, 0 if it held nothing.
        linear: whether these explain the vector.
    """

    samples: Tensor
    stale: float
    linear: bool

    @property
    def has_samples(self) -> bool:
        return bool((self.samples.abs() > MATCH).any())

    @property
    def has_stale(self) -> bool:
        return self.linear and abs(self.stale) > MATCH

    def holds(self, due: list[float] | Tensor) -> bool:
        """Whether the coefficients are those, up to rounding."""
        due = torch.as_tensor(due, dtype=self.samples.dtype)
        return self.linear and bool(((self.samples - due).abs() <= MATCH * due.abs().clamp_min(1)).all())

    def in_words(self) -> str:
        """``"1/4 of sample 1, 1 of sample 2"`` or ``"1/4 of each"``."""
        if self.holds([float(self.samples[0])] * len(self.samples)) and self.has_samples:
            return f"{as_fraction(float(self.samples[0]))} of each"
        shares = [(k, as_fraction(value)) for k, value in enumerate(self.samples.tolist(), 1) if abs(value) > MATCH]
        return ", ".join(f"{share} of sample {k}" for k, share in shares) or "nothing of any sample"


def unmix(trial: BatchTrial, vector: Tensor, *, training: bool | None = None) -> Mixture:
    """Read off which sample gradients a vector ``(P,)`` is made of.

    Args:
        trial: whose samples.
        vector: a gradient, or a movement over the learning rate.
        training: the mode to take the sample gradients in, if not the trial's.
    """
    model = trial.problem.with_(device="cpu").build_model()
    stale = flat_gradient(model).cpu()
    model.train(trial.training if training is None else training)
    batches = trial.problem.with_(device="cpu").batches()
    basis = torch.stack([batch_gradient(model, trial.loss_fn, sample).cpu() for sample in batches])
    if trial.problem.stale:
        basis = torch.cat([basis, stale[None]])
    vector = vector.to(basis)
    if not torch.isfinite(vector).all():
        return Mixture(torch.zeros(trial.samples, dtype=basis.dtype), 0.0, False)
    coefficients = torch.linalg.lstsq(basis.T, vector[:, None]).solution[:, 0]
    error, size = float((vector - coefficients @ basis).norm()), float(vector.norm())
    stale_share = float(coefficients[-1]) if trial.problem.stale else 0.0
    return Mixture(coefficients[: trial.samples], stale_share, error <= LINEAR * size)


def name_shares(trial: BatchTrial, vector: Tensor) -> tuple[str, tuple[str, ...]]:
    """What is wrong with a vector that should be the mean of the sample gradients: in words, and the slugs of mistakes.

    Empty words mean that nothing is.
    """
    if not torch.isfinite(vector).all():
        return "It holds values that are no longer numbers (NaN or inf).", ()
    n, mixture, slugs = trial.samples, unmix(trial, vector), ()
    if not mixture.linear:
        mixture, slugs = unmix(trial, vector, training=not trial.training), ("eval-mode",)
    if not mixture.linear:
        return "It is not a combination of the gradients of your samples.", ()
    if mixture.holds([1 / n] * n):
        return ("It is the gradient of a model in evaluation mode.", slugs) if slugs else ("", ())
    named = [slug for slug, shares in _wrong_shares(n).items() if any(map(mixture.holds, shares))]
    return f"Due is 1/{n} of every sample's gradient; yours holds {mixture.in_words()}.", (*slugs, *named[:1])


def _wrong_shares(n: int) -> dict[str, list[list[float]]]:
    """By slug, how much of each of n samples is in the result of a function with this mistake."""
    only = [[float(k == j) for k in range(n)] for j in range(n)]
    without = [[float(k != j) for k in range(n)] for j in range(n)]
    halves = [0.5 ** (n - k) for k in range(n)]
    return {
        "sums-samples": [[1.0] * n],
        "samples-divided-twice": [[1 / n**2] * n],
        "single-sample": only + [[share / n for share in row] for row in only],
        "sample-missing": [[share / d for share in row] for row in without for d in (1, n - 1, n)],
        "halved-again-and-again": [halves, [2 * halves[0], *halves[1:]]],
    }


def _names_with_gradient(trial: BatchTrial) -> set[str]:
    """The trainable parameters that the loss depends on."""
    model = trial.model()
    x, y = trial.batch()
    gradients = torch.autograd.grad(trial.loss_fn(model(x), y), trainable(model), allow_unused=True)
    names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    return {name for name, gradient in zip(names, gradients, strict=True) if gradient is not None}
