"""Running a student's training loop on a problem and comparing it with large-batch training.

Used by every exercise whose function is a loop: what right means (the parameters after each epoch), what a loop may
remember, and how the mistakes in one are found.
"""

from __future__ import annotations

import itertools
import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from autograder.diagnosis import name_mistakes
from autograder.exercise import Failure, Observation
from autograder.student_code import describe_error
from gradaccum.fingerprint import Fingerprint, as_fraction, batch_gradient, expected, solve
from gradaccum.loops import right, windows
from gradaccum.problems import MicroBatch, Problem, flat_parameters, trainable
from gradaccum.recording import Event, Recording, record

TOLERANCE = {"float64": 1e-6, "float32": 1e-4}
"""Relative difference up to which a movement counts as right. Rounding leaves 1e-14 in float64; a student may sum in float32
buffers, which leaves 1e-7. The smallest error of a catalogued mistake on these problems is above 1e-2."""

MEMORY = 2.0
"""How many times the reference's peak memory a loop may use. Own buffers and copies of a window's data stay below 1.5; a
window whose graphs are alive together needs about as many times as it has micro-batches, 8 in these problems."""


@dataclass(frozen=True)
class LoopTrial:
    """A problem and how the loop is watched on it, see :func:`gradaccum.recording.record`."""

    problem: Problem
    frozen: bool = False
    meter: bool = False


def observe_loop(loop: Callable, trial: LoopTrial) -> Observation:
    """Run a loop; bring back its gradients, movements, parameters, losses and the counts of what was seen."""
    events: list[Event] = []
    try:
        seen = record(loop, trial.problem, frozen=trial.frozen, meter=trial.meter, on_event=events.append)
    except NotImplementedError:
        raise
    except Exception as error:
        facts = _counts(events) | {"in_backward": _in_backward(error)}
        return Observation(facts=facts, failure=Failure("raised", describe_error(error)))
    tensors = {"gradients": seen.gradients, "movements": seen.movements, "parameters": seen.parameters}
    return Observation({name: tensor.cpu() for name, tensor in tensors.items()}, _counts(events) | _facts(seen))


def moves_like_large_batches(trial: LoopTrial, observation: Observation) -> bool:
    """Whether the parameters after each epoch are those of one large batch per window."""
    parameters = observation.tensors.get("parameters")
    start, reference = large_batch_parameters(trial.problem)
    return parameters is not None and close(parameters.to(reference) - start, reference - start, trial.problem.dtype)


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


def window_losses(problem: Problem) -> list[list[float]]:
    """For each epoch the mean loss of each window over its samples, at the parameters the problem starts with."""
    model = problem.build_model()
    with torch.no_grad():
        return [
            [problem.loss_fn(model(x), y).item() for x, y in map(joined, windows(batches, problem.accumulation_steps))]
            for batches in map(problem.batches, range(len(problem.epochs)))
        ]


def joined(window: list[MicroBatch]) -> MicroBatch:
    """The micro-batches of a window as one large batch."""
    return torch.cat([x for x, _ in window]), torch.cat([y for _, y in window])


def close(found: Tensor, due: Tensor, dtype: str) -> bool:
    """Whether two tensors of the same shape differ by rounding only, measured against the size of what was due."""
    if found.shape != due.shape or not torch.isfinite(found).all():
        return False
    return bool((found - due).norm() <= TOLERANCE[dtype] * due.norm())


def within_memory(trial: LoopTrial, observation: Observation) -> bool:
    """Whether a metered loop needed about as much memory as a loop with one micro-batch's graph alive."""
    return 0 < observation.facts.get("peak_bytes", 0) <= MEMORY * record(right, trial.problem, meter=True).peak_bytes


def read_observation(trial: LoopTrial, observation: Observation, *, training: bool = True) -> Fingerprint:
    """The fingerprint of a loop that was observed with frozen parameters."""
    movements = observation.tensors["movements"] / trial.problem.lr
    problem = trial.problem.with_(device="cpu")
    return solve(observation.tensors["gradients"], movements, observation.facts["update_epochs"], problem, training=training)


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
        return Diagnosis(_unreached(facts) if facts.get("in_backward") else (), "", None, due)
    found = read_observation(trial, observation)
    modes: tuple[str, ...] = ()
    if not found.linear:
        in_eval_mode = read_observation(trial, observation, training=False)
        if in_eval_mode.linear:
            found, modes = in_eval_mode, ("eval-mode",)
    slugs = name_mistakes(found, trial.problem, facts.get("forwards"))
    if slugs is None:
        return Diagnosis(modes, difference_in_words(found, due), found, due)
    return Diagnosis((*modes, *_with_evidence(slugs, facts)), "", found, due)


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
    if len(found.coefficients) != len(due.coefficients):
        return f"Your loop made {len(found.coefficients)} updates where {len(due.coefficients)} were due."
    for u, (row, right_row) in enumerate(zip(found.coefficients, due.coefficients, strict=True)):
        if not torch.allclose(row, right_row, atol=1e-4):
            return f"Update {u + 1} holds {_row_in_words(row)}; due were {_row_in_words(right_row)}."
    return ""


def loss_mistakes(problem: Problem, returned: list[list[float]]) -> tuple[str, ...]:
    """Name what a loop reported instead of each window's mean loss."""
    model = problem.build_model()
    guesses: Mapping[str, list[list[float]]] = {
        "loss-of-last": [],
        "loss-mean-of-means": [],
        "loss-scaled-in-log": [],
        "loss-summed": [],
    }
    for epoch in range(len(problem.epochs)):
        rows: dict[str, list[float]] = {slug: [] for slug in guesses}
        for window in windows(problem.batches(epoch), problem.accumulation_steps):
            with torch.no_grad():
                losses = [problem.loss_fn(model(x), y).item() for x, y in window]
            sizes = [len(x) for x, _ in window]
            share = sum(loss * size for loss, size in zip(losses, sizes, strict=True)) / sum(sizes)
            rows["loss-of-last"].append(losses[-1])
            rows["loss-mean-of-means"].append(sum(losses) / len(losses))
            rows["loss-scaled-in-log"].append(share / len(losses))
            rows["loss-summed"].append(sum(losses))
        for slug, row in rows.items():
            guesses[slug].append(row)
    for slug, rows in guesses.items():
        if same_numbers(returned, rows):
            return (slug,)
    scaled_last = [[value / problem.accumulation_steps for value in row] for row in guesses["loss-of-last"]]
    return ("loss-of-last", "loss-scaled-in-log") if same_numbers(returned, scaled_last) else ()


def same_numbers(found: list[list[float]], due: list[list[float]]) -> bool:
    """Whether two lists of lists agree to rounding; 1e-6 admits sums in float32, wrong losses differ by more than 1e-2."""
    if [len(row) for row in found] != [len(row) for row in due]:
        return False
    pairs = ((f, d) for a, b in zip(found, due, strict=True) for f, d in zip(a, b, strict=True))
    return all(abs(f - d) <= 1e-6 * abs(d) for f, d in pairs)


def plain_losses(value: object) -> list[float] | None:
    """A returned sequence of numbers or one-element tensors as floats; None if it is not one."""
    if isinstance(value, Tensor) and value.dim() == 1:
        value = value.tolist()
    if not isinstance(value, list | tuple):
        return None
    try:
        return [float(item) for item in value]
    except (TypeError, ValueError, RuntimeError):
        return None


def _counts(events: list[Event]) -> dict:
    forwards = [event for event in events if event.kind == "forward"]
    return {
        "forwards": len(forwards),
        "backwards": sum(event.kind == "backward" for event in events),
        "forwards_without_grad": sum(not event.grad_enabled for event in forwards),
    }


def _facts(seen: Recording) -> dict:
    return {
        "update_epochs": list(seen.update_epochs),
        "fetched": list(seen.fetched),
        "losses": [plain_losses(value) for value in seen.returned],
        "training_after": seen.training_after,
        "peak_bytes": seen.peak_bytes,
    }


def _in_backward(error: Exception) -> bool:
    """Whether the error came out of autograd's engine, as it does for a loss that has no graph."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename.replace("\\", "/").endswith("torch/autograd/graph.py")


def _unreached(facts: dict) -> tuple[str, ...]:
    """Why a gradient does not reach the parameters: no graph was built, or the loss was cut from it."""
    if facts.get("forwards_without_grad"):
        return ("grad-disabled",)
    return ("detached",) if not facts.get("backwards") else ()


def _with_evidence(slugs: tuple[str, ...], facts: dict) -> tuple[str, ...]:
    """Two mistakes can leave the same matrix; what else was seen tells them apart."""
    if "zero-before-step" in slugs and not facts.get("backwards"):
        return _unreached(facts) or slugs
    single_backward = facts.get("backwards", 0) <= len(facts.get("update_epochs", ()))
    if "zero-every" in slugs and (facts.get("forwards_without_grad") or single_backward):
        other = "grad-disabled" if facts.get("forwards_without_grad") else "detached"
        return tuple(other if slug == "zero-every" else slug for slug in slugs)
    return slugs


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
