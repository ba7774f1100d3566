"""Running a student's training loop on a problem and comparing it with large-batch training.

Used by every exercise whose function is a loop: what right means (the parameters after each epoch), what a loop may
remember, and how the mistakes in one are found.
"""

from __future__ import annotations

import itertools
import math
import random
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from torch import Tensor

from autograder.diagnosis import Passes, name_mistakes
from autograder.exercise import Observation
from autograder.reported_losses import plain_losses
from autograder.student_code import failure_of
from gradaccum.fingerprint import Fingerprint, as_fraction, batch_gradient, expected, micro_batch_gradients, solve
from gradaccum.loops import right, windows
from gradaccum.problems import MicroBatch, Problem, flat_parameters, trainable
from gradaccum.recording import Event, Recording, record

TOLERANCE = {"float64": 1e-6, "float32": 1e-4}
"""Relative difference up to which a movement counts as right. Rounding leaves 1e-14 in float64; a student may sum in float32
buffers, which leaves 1e-7. The smallest error of a catalogued mistake on these problems is above 1e-2."""

MEMORY = 12.0
"""How many times the reference's peak memory a loop may use, on a deep, narrow model with 24 small micro-batches. There own
buffers need below 1.3 times as much; torch.func, which keeps the graph of a micro-batch while it differentiates, 2.8; copies of
a whole window's data 5.3; a gradient for every sample of a micro-batch 7.4. A window whose graphs are alive together needs at
least 18 times as much."""


@dataclass(frozen=True)
class LoopTrial:
    """A problem and how the loop is watched on it, see :func:`gradaccum.recording.record`."""

    problem: Problem
    frozen: bool = False
    meter: bool = False


def uneven_sizes(chance: random.Random, choices: Sequence[int], count: int) -> list[int]:
    """Sizes of a window's micro-batches, no two alike.

    The last one is not their mean: a loop that keeps only the last would look as if it weighed it by its samples.
    """
    sizes = chance.sample(choices, count)
    return sizes[::-1] if sizes[-1] * count == sum(sizes) else sizes


def probe_length(windows: int, steps: int, left: int) -> int:
    """Micro-batches in the second epoch of a probe whose first one leaves ``left`` over.

    Also of windows that are one too narrow or too wide, all of them or the first one, something is then left over in one of
    the two epochs, and shows what a loop does with it.
    """
    return windows * steps + left - (left == steps - 1)


def observe_loop(loop: Callable, trial: LoopTrial) -> Observation:
    """Run a loop; bring back its gradients, movements, parameters, losses and the counts of what was seen."""
    events: list[Event] = []
    try:
        seen = record(loop, trial.problem, frozen=trial.frozen, meter=trial.meter, on_event=events.append)
    except Exception as error:
        return Observation(facts=_counts(events) | {"without_graph": _is_without_graph(error)}, failure=failure_of(error))
    tensors = {"gradients": seen.gradients, "movements": seen.movements, "parameters": seen.parameters}
    return Observation({name: tensor.cpu() for name, tensor in tensors.items()}, _counts(events) | _facts(seen))


def moves_like_large_batches(trial: LoopTrial, observation: Observation) -> bool:
    """Whether the parameters after each epoch are those of one large batch per window."""
    parameters = observation.tensors.get("parameters")
    start, reference = large_batch_parameters(trial.problem)
    if parameters is None or parameters.shape != reference.shape:
        return False
    return close(parameters.to(reference) - start, reference - start, trial.problem.dtype)


def large_batch_parameters(problem: Problem, rate_factors: Sequence[float] | None = None) -> tuple[Tensor, Tensor]:
    """Parameters ``(P,)`` before training and ``(E, P)`` after each epoch, one large batch per window, on the CPU.

    Args:
        problem: what is trained.
        rate_factors: what to multiply the learning rate by, for each update; 1 if not given.
    """
    model = problem.build_model()
    start, after = flat_parameters(model), []
    factors = iter(rate_factors) if rate_factors is not None else itertools.repeat(1.0)
    for epoch in range(len(problem.epochs)):
        for window in windows(problem.batches(epoch), problem.accumulation_steps):
            step = problem.lr * next(factors) * batch_gradient(model, problem.loss_fn, joined(window))
            _move(model, step)
        after.append(flat_parameters(model))
    return start.cpu(), torch.stack(after).cpu()


def large_batch_gradients(problem: Problem) -> Tensor:
    """``(U, P)``, one row for each window: the gradient of its large batch, at the parameters the problem starts with."""
    model = problem.build_model()
    batches = [problem.batches(epoch) for epoch in range(len(problem.epochs))]
    rows = [joined(window) for epoch in batches for window in windows(epoch, problem.accumulation_steps)]
    return torch.stack([batch_gradient(model, problem.loss_fn, row) for row in rows])


def joined(window: list[MicroBatch]) -> MicroBatch:
    """The micro-batches of a window as one large batch."""
    return torch.cat([x for x, _ in window]), torch.cat([y for _, y in window])


def close(found: Tensor, due: Tensor, dtype: str) -> bool:
    """Whether two tensors of the same shape differ by rounding only, measured against the size of what was due."""
    if found.shape != due.shape or not torch.isfinite(found).all():
        return False
    return bool((found - due).norm() <= TOLERANCE[dtype] * due.norm())


def holds_several_graphs(trial: LoopTrial, observation: Observation) -> bool:
    """Whether a metered loop needed far more memory than a loop with one micro-batch's graph alive."""
    return observation.facts.get("peak_bytes", 0) > MEMORY * _peak_of_right(trial.problem)


def window_gradient(problem: Problem, observation: Observation) -> Tensor:
    """``(P,)``, what a problem's only window moved the parameters by, over the learning rate."""
    start = flat_parameters(problem.build_model()).cpu()
    return (start - observation.tensors["parameters"][0].to(start)) / problem.lr


def is_cut_finely(problem: Problem, gradient: Tensor) -> bool:
    """Whether no forward had samples of several micro-batches.

    The peak of memory is what the student's process says it was. This is seen from numbers: the gradient of a model whose
    forwards mix their samples.

    Args:
        problem: coupled, one window of micro-batches of equal size.
        gradient: ``(P,)``, what the loop made of the window.
    """
    size = problem.epochs[0][0]
    parts = (part for part in range(size, 0, -1) if size % part == 0)  # smaller pieces of a micro-batch are as good
    return any(close(gradient, _cut(problem, part).to(gradient), problem.dtype) for part in parts)


def is_one_forward(problem: Problem, gradient: Tensor) -> bool:
    """Whether all samples of a window went through the model together; arguments as of :func:`is_cut_finely`."""
    return close(gradient, _cut(problem, sum(problem.epochs[0])).to(gradient), problem.dtype)


@lru_cache(maxsize=128)  # a class is marked on the same problems
def _cut(problem: Problem, size: int) -> Tensor:
    """The mean gradient of a window whose forwards have ``size`` samples each."""
    model = problem.build_model()
    x, y = joined(problem.batches())
    pieces = zip(x.split(size), y.split(size), strict=True)
    return torch.stack([batch_gradient(model, problem.loss_fn, piece) for piece in pieces]).mean(0).cpu()


@lru_cache(maxsize=32)
def _peak_of_right(problem: Problem) -> int:
    return record(right, problem, meter=True).peak_bytes


def read_observation(trial: LoopTrial, observation: Observation, **options) -> Fingerprint:
    """The fingerprint of a loop that was observed with frozen parameters; options as of :func:`gradaccum.fingerprint.solve`."""
    movements = observation.tensors["movements"] / trial.problem.lr
    problem = trial.problem.with_(device="cpu")
    return solve(observation.tensors["gradients"], movements, observation.facts["update_epochs"], problem, **options)


@dataclass(frozen=True)
class Diagnosis:
    """Named mistakes, a remark for what has no name, and the two fingerprints."""

    slugs: tuple[str, ...]
    remark: str
    found: Fingerprint | None
    expected: Fingerprint


def diagnose(trial: LoopTrial, observation: Observation) -> Diagnosis:
    """What a loop computes instead, read off its fingerprint."""
    due, facts = expected(trial.problem), observation.facts
    if observation.failure:
        return Diagnosis(_cut_off(facts) if facts.get("without_graph") else (), "", None, due)
    found, beside = _explained(trial, observation)
    if not facts["training_after"]:
        beside = tuple(dict.fromkeys((*beside, "eval-mode")))
    micro_batches = sum(map(len, trial.problem.epochs))
    passes = Passes(
        all_seen=facts["micro_batches_seen"] == micro_batches,
        repeated=(facts["backwards"] or facts["forwards_with_grad"]) > micro_batches,
    )
    slugs = name_mistakes(found, trial.problem, passes)
    if slugs is None:
        return Diagnosis(beside, difference_in_words(found, due), found, due)
    shown = None if found.same_as(due) else found  # two equal pictures would say nothing
    return Diagnosis((*beside, *_with_evidence(slugs, facts, micro_batches)), "", shown, due)


def _explained(trial: LoopTrial, observation: Observation) -> tuple[Fingerprint, tuple[str, ...]]:
    """The fingerprint, and the mistake without which the updates are no combination of micro-batch gradients."""
    found = read_observation(trial, observation)
    if found.linear:
        return found, ()
    mixed = _by_row(found, read_observation(trial, observation, training=False))
    if mixed.linear:
        return mixed, ("eval-mode",)
    gradients = observation.tensors["gradients"]
    reached = gradients.any(0)
    due = micro_batch_gradients(trial.problem.with_(device="cpu"))[: len(found.columns)]  # without what was there before
    if not reached.any() or not (due.any(0) & ~reached).any():
        return found, ()
    try:
        part = read_observation(trial, observation, among=reached)
    except ValueError:  # too few numbers are reached to tell the micro-batches apart
        part = found
    return (part if part.linear else found), ("detached",)


def _by_row(first: Fingerprint, second: Fingerprint) -> Fingerprint:
    """Row by row the reading that explains the update, the first if both do: the mode may change from window to window."""
    take = first.residuals <= second.residuals
    stale = None if first.stale is None else first.stale.where(take, second.stale)
    coefficients = first.coefficients.where(take[:, None], second.coefficients)
    return replace(first, coefficients=coefficients, residuals=first.residuals.where(take, second.residuals), stale=stale)


def difference_in_words(found: Fingerprint, due: Fingerprint) -> str:
    """The first row in which two fingerprints differ, in plain words."""
    if not found.linear:
        share = float(found.residuals.max())
        if math.isinf(share):
            return "Your updates hold values that are no longer numbers (NaN or inf)."
        return (
            "Your updates are not a combination of micro-batch gradients at the window's parameters: "
            f"up to {share:.0%} of one is something else."
        )
    if not len(found.coefficients):
        return "The optimizer you were given was never asked for an update: there was no call of its step."
    if len(found.coefficients) != len(due.coefficients):
        return f"Your loop made {len(found.coefficients)} updates where {len(due.coefficients)} were due."
    for u, (row, right_row) in enumerate(zip(found.coefficients, due.coefficients, strict=True)):
        if not torch.allclose(row, right_row, atol=1e-4):
            return f"Update {u + 1} holds {_row_in_words(row)}; due were {_row_in_words(right_row)}."
    for u, rate in enumerate(found.rates.tolist()):
        if abs(rate - 1) > 1e-4:
            return f"Update {u + 1} moves the parameters {rate:.3g} times as far as its gradient and the learning rate say."
    return ""


def _counts(events: list[Event]) -> dict:
    forwards = [event for event in events if event.kind == "forward"]
    learning = [event for event in forwards if event.grad_enabled]
    return {
        "backwards": sum(event.kind == "backward" for event in events),
        "forwards_with_grad": len(learning),
        "forwards_without_grad": len(forwards) - len(learning),
        "forwards_in_graph": sum(event.size > 0 for event in learning),  # those inside torch.func show no size
        "micro_batches_seen": len({(e.epoch, e.micro_batch) for e in learning if e.micro_batch is not None}),
        "last_forward_with_grad": bool(forwards) and forwards[-1].grad_enabled,
    }


def _facts(seen: Recording) -> dict:
    return {
        "update_epochs": list(seen.update_epochs),
        "fetched": list(seen.fetched),
        "losses": [plain_losses(value) for value in seen.returned],
        "training_after": seen.training_after,
        "peak_bytes": seen.peak_bytes,
    }


def _is_without_graph(error: Exception) -> bool:
    """Whether autograd's engine refused a loss because it has no graph."""
    frames = traceback.extract_tb(error.__traceback__)
    in_engine = bool(frames) and frames[-1].filename.replace("\\", "/").endswith("torch/autograd/graph.py")
    return in_engine and "does not require grad" in str(error)


def _cut_off(facts: dict) -> tuple[str, ...]:
    """Why the first loss has no graph: it was built without one, or cut from it."""
    if facts["backwards"] or not (facts["forwards_with_grad"] or facts["forwards_without_grad"]):
        return ()
    return ("detached",) if facts["last_forward_with_grad"] else ("grad-disabled",)


def _with_evidence(slugs: tuple[str, ...], facts: dict, micro_batches: int) -> tuple[str, ...]:
    """A gradient that never was looks like one that was cleared; what else was seen tells them apart."""
    backwards = facts["backwards"]
    if facts["forwards_without_grad"] and facts["forwards_with_grad"] < micro_batches:
        other = "grad-disabled"
    elif facts["forwards_in_graph"] and backwards <= len(facts["update_epochs"]) < micro_batches:
        other = "detached"
    else:
        return slugs
    cleared = {"zero-every"} | (set() if backwards else {"zero-before-step"})
    return tuple(other if slug in cleared else slug for slug in slugs)


def _row_in_words(row: Tensor) -> str:
    present = [(k + 1, as_fraction(value)) for k, value in enumerate(row.tolist()) if abs(value) > 1e-4]
    return ", ".join(f"{share} of micro-batch {k}" for k, share in present) or "nothing"


def _move(model: torch.nn.Module, step: Tensor) -> None:
    start = 0
    with torch.no_grad():
        for parameter in trainable(model):
            end = start + parameter.numel()
            parameter -= step[start:end].view_as(parameter)
            start = end
