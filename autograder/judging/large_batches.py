"""What a loop is compared with: training with one large batch per window, and the memory that a right loop needs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.judging.left_behind import outside_message
from autograder.judging.other_losses import swapped
from autograder.judging.tolerances import close
from autograder.observing.loops import LoopTrial
from autograder.support.counted import counted
from gradaccum.fingerprint import batch_gradient, expected, micro_batch_gradients
from gradaccum.loops import right, windows
from gradaccum.problems import ProbeModel, Problem, coupling, flat_parameters, joined, trainable
from gradaccum.recording import record

SEVERAL_GRAPHS = "As much memory is in use at once as the graphs of several micro-batches take."
JOINED = "Samples of several micro-batches go through the model together."
NOT_ONE_EACH = (
    "Where the samples of one forward act on each other, the gradient is not the one that is due, with each micro-batch in a "
    "forward of its own."
)
MOVES_NOTHING = "An epoch of a single window does not move the parameters."
AFTER_INFINITY = "Where .grad held infinity before the call, the parameters after training are not those that are due."
CUT_OTHERWISE = "With 24 micro-batches the gradient is not that of forwards with one micro-batch each, or with a few."

METERED: dict[str, Any] = {"width": 6, "depth": 2, "skewed": True}
METERED_WINDOW = (12,) * 24
"""The model and the micro-batches on which a loop's memory is counted: the graph of one micro-batch is several times as large
as the gradients, and most of it belongs to the model, not to the loss. Counting takes time for each operation, however large it
is, and some loops take their samples one by one: hence few layers and few samples."""

MEMORY = 9.0
"""How many times the reference's peak memory a loop may use on :data:`METERED_WINDOW`. There own buffers need below 1.3 times
as much; torch.func, which keeps the graph of a micro-batch while it differentiates, 2.2; copies of a whole window's data 5.3; a
gradient for every sample of a micro-batch 7.0. A window whose outputs are all computed first needs 10.5 times as much, and
one whose graphs are alive together at least 14.6."""


def for_one(message: str, problem: Problem | None = None) -> str:
    """What a message says of a problem whose windows have one micro-batch each; empty if the message is.

    What else is special of the ``problem``, if it is given, is named, too.
    """
    narrow = " and a model with a single output" if problem and problem.outputs == 1 else ""
    rounded = ", in float32" if problem and problem.dtype == "float32" else ""
    return message and f"With N = 1{narrow}{rounded}: {message}"


def moves_like_large_batches(trial: LoopTrial, observation: Observation) -> bool:
    """Whether the parameters after each epoch are those of one large batch per window."""
    parameters = observation.tensors.get("parameters")
    start, reference = large_batch_parameters(trial.problem)
    if parameters is None or parameters.shape != reference.shape:
        return False
    return close(parameters.to(reference) - start, reference - start, trial.problem.dtype)


def moves_unused(trial: LoopTrial, observation: Observation) -> bool:
    """Whether the parameters after training are right but for those that no micro-batch uses, which must not move."""
    parameters = observation.tensors.get("parameters")
    start, reference = large_batch_parameters(trial.problem)
    if parameters is None or parameters.shape != reference.shape:
        return False
    found, due = parameters.to(reference) - start, reference - start
    unused = ~due.any(0)
    return bool(found[:, unused].any()) and close(found[:, ~unused], due[:, ~unused], trial.problem.dtype)


def groups_in_words(trial: LoopTrial, observation: Observation) -> str:
    """That one of the optimizer's two parameter groups is right after the first epoch and the other is not; empty if not so.

    The trial's first epoch has to be a single window: afterwards, wrong parameters make all gradients wrong.
    """
    problem, parameters = trial.problem, observation.tensors.get("parameters")
    start, reference = large_batch_parameters(problem)
    if not problem.grouped or parameters is None or parameters.shape != reference.shape:
        return ""
    found, due = parameters[0].to(reference) - start, reference[0] - start
    model = problem.build_model()
    in_first = {*map(id, problem.build_optimizer(model).param_groups[0]["params"])}
    first = torch.cat([torch.full((p.numel(),), id(p) in in_first) for p in trainable(model)])
    fine = [close(found[group], due[group], problem.dtype) for group in (first, ~first)]
    if fine[0] == fine[1]:
        return ""
    right, wrong = ("first", "second") if fine[0] else ("second", "first")
    return f"The optimizer has two parameter groups here: its {right} is updated as it should be, its {wrong} is not."


def training_in_words(trial: LoopTrial, observation: Observation, rate_factors: tuple[float, ...] | None = None) -> str:
    """What makes the final parameters wrong, if it is none of the gradients: momentum, say; empty otherwise.

    The ``rate_factors`` are those of :func:`large_batch_parameters`.
    """
    problem, parameters = trial.problem, observation.tensors.get("parameters")
    outside = outside_message(observation)
    if not problem.momentum or parameters is None:
        return outside
    start, _ = large_batch_parameters(problem)
    others = {
        "The parameters are those of updates without momentum, although the optimizer you are given has some.": (
            _trained(problem.with_(momentum=0.0), rate_factors)[1]
        ),
        "The parameters are those of an optimizer that forgets its momentum after each epoch.": (
            _trained(problem, rate_factors, forgetful=True)[1]
        ),
        "The parameters are those of updates whose loss was given its two arguments in the wrong order.": (
            _trained(problem, rate_factors, wrong_order=True)[1]
        ),
    }
    for words, made in others.items():
        if parameters.shape == made.shape and close(parameters.to(made) - start, made - start, problem.dtype):
            return words
    return outside


def window_samples(problem: Problem) -> list[list[float]]:
    """For each epoch the samples of each of its windows."""
    return [[float(sum(window)) for window in windows(sizes, problem.accumulation_steps)] for sizes in problem.epochs]


def updates_in_epochs(trial: LoopTrial, observation: Observation) -> str:
    """How many updates a loop makes, in words; empty if there are as many as windows."""
    if observation.failure:
        return ""
    made, due = len(observation.facts["update_epochs"]), sum(map(len, window_samples(trial.problem)))
    return "" if made == due else f"Your loop makes {counted(made, 'update')} where {due} are due."


def large_batch_parameters(problem: Problem, rate_factors: Sequence[float] | None = None) -> tuple[Tensor, Tensor]:
    """Parameters ``(P,)`` before training and ``(E, P)`` after each epoch of one large batch per window, on the CPU.

    Args:
        problem: the problem to train on.
        rate_factors: what to multiply the learning rate by, for each update; 1 if not given.

    The tensors are kept for later calls and must not be changed.
    """
    return _trained(problem, None if rate_factors is None else tuple(rate_factors))


@lru_cache(maxsize=128)  # messages and diagnosis ask for the same one
def _trained(
    problem: Problem, rate_factors: tuple[float, ...] | None, forgetful: bool = False, wrong_order: bool = False
) -> tuple[Tensor, Tensor]:
    model = problem.build_model()
    optimizer = problem.build_optimizer(model)
    start, after = flat_parameters(model), []
    loss_fn = swapped(problem.loss_fn) if wrong_order else problem.loss_fn
    factors = iter(rate_factors) if rate_factors is not None else itertools.repeat(1.0)
    for epoch in range(len(problem.epochs)):
        if forgetful:
            optimizer.state.clear()
        for window in windows(problem.batches(epoch), problem.accumulation_steps):
            _set_gradient(model, batch_gradient(model, loss_fn, joined(window)))
            optimizer.param_groups[0]["lr"] = problem.lr * next(factors)
            optimizer.step()
        after.append(flat_parameters(model))
    return start.cpu(), torch.stack(after).cpu()


def large_batch_gradients(problem: Problem) -> Tensor:
    """``(U, P)``, one row for each window: the gradient of its large batch, at the parameters the problem starts with."""
    model = problem.build_model()
    batches = [problem.batches(epoch) for epoch in range(len(problem.epochs))]
    rows = [joined(window) for epoch in batches for window in windows(epoch, problem.accumulation_steps)]
    return torch.stack([batch_gradient(model, problem.loss_fn, row) for row in rows])


def shrinks_in_a_window(problem: Problem) -> bool:
    """Whether in some window a sum of the first gradients is clearly longer than that of all, as most of them are not."""
    gradients = micro_batch_gradients(problem)
    for row in expected(problem).coefficients:
        sums = (row[:, None] * gradients).cumsum(0).norm(dim=1)
        if sums.max() > 1.02 * sums[-1]:
            return True
    return False


def holds_several_graphs(trial: LoopTrial, observation: Observation) -> bool:
    """Whether a metered loop needed far more memory than a loop that keeps one micro-batch's graph at a time."""
    return observation.facts.get("peak_bytes", 0) > MEMORY * _peak_of_right(trial.problem.with_(seed=0))  # any seed's peak


def uses_up_streams(problems: Mapping[str, Problem], observations: Mapping[str, Observation]) -> bool:
    """Whether no update holds a gradient wherever micro-batches come as a one-shot stream, and some do everywhere else."""
    if any(seen.failure for seen in observations.values()):
        return False
    return all((not observations[name].tensors["gradients"].any()) == problem.one_shot for name, problem in problems.items())


def window_gradient(problem: Problem, observation: Observation) -> Tensor:
    """``(P,)``, how far a problem's only window moved the parameters, divided by the learning rate."""
    start = flat_parameters(problem.build_model()).cpu()
    return (start - observation.tensors["parameters"][0].to(start)) / problem.lr


MAX_JOINED = int(MEMORY)
"""How many micro-batches may go through the model together where only :data:`MEMORY` bounds them."""


def is_cut_finely(problem: Problem, gradient: Tensor, joined: int = 1) -> bool:
    """Whether every forward had samples of one micro-batch only, or of so many ``joined`` ones that follow each other.

    The peak of memory is only what the student's process says it was. This is seen from numbers: the gradient of a model in
    which the samples of a forward act on each other.

    Args:
        problem: coupled, one window of micro-batches of equal size.
        gradient: ``(P,)``, the gradient that the loop computed for the window.
        joined: how many micro-batches a forward may have at most.
    """
    size = problem.epochs[0][0]
    parts = [part for part in range(size, 0, -1) if size % part == 0]  # smaller pieces of a micro-batch are as good
    parts += [size * several for several in range(2, joined + 1)]
    return any(close(gradient, _cut(problem, part).to(gradient), problem.dtype) for part in parts)


def forwards_message(problem: Problem, gradient: Tensor, joined: int = 1) -> str:
    """What is wrong with the forwards of a window, empty if nothing; the arguments are those of :func:`is_cut_finely`."""
    if is_cut_finely(problem, gradient, joined):
        return ""
    if not gradient.any():
        return MOVES_NOTHING
    otherwise = CUT_OTHERWISE if joined > 1 else NOT_ONE_EACH
    return JOINED if is_one_forward(problem, gradient) else otherwise


def is_one_forward(problem: Problem, gradient: Tensor) -> bool:
    """Whether all samples of a window went through the model together; the arguments are those of :func:`is_cut_finely`."""
    return close(gradient, _cut(problem, sum(problem.epochs[0])).to(gradient), problem.dtype)


@lru_cache(maxsize=128)
def _cut(problem: Problem, size: int) -> Tensor:
    """The mean gradient of a window whose forwards have ``size`` samples each."""
    model, (x, y) = problem.build_model(), joined(problem.batches())
    if isinstance(model, ProbeModel) and model.coupled:  # one forward will do, if each piece's samples keep what couples them
        factors = torch.cat([coupling(piece).expand(len(piece), 1) for piece in x.split(size)])
        model.coupled = False
        return batch_gradient(model, lambda out, target: problem.loss_fn(out * factors, target), (x, y)).cpu()
    pieces = zip(x.split(size), y.split(size), strict=True)
    gradients = [batch_gradient(model, problem.loss_fn, piece) * (len(piece[0]) / len(x)) for piece in pieces]
    return torch.stack(gradients).sum(0).cpu()


@lru_cache(maxsize=32)
def _peak_of_right(problem: Problem) -> int:
    return record(right, problem, meter=True).peak_bytes


def _set_gradient(model: torch.nn.Module, gradient: Tensor) -> None:
    start = 0
    for parameter in trainable(model):
        end = start + parameter.numel()
        parameter.grad = gradient[start:end].view_as(parameter)
        start = end
