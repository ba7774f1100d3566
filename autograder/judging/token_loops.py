"""What known loops over tokens do on the trials: computed once per process, since check() uses the same problems each time."""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.judging.reported_losses import Losses, window_losses
from autograder.judging.tolerances import close
from autograder.observing.token_loops import TokenLoopTrial, observe_tokens
from gradaccum.loops import windows
from gradaccum.loops.tokens import TOKEN_LOOPS
from gradaccum.problems import MicroBatch, flat_parameters, trainable
from gradaccum.problems.tokens import TokenProblem, one_large_batch, token_loss


@lru_cache(maxsize=128)
def reference(trial: TokenLoopTrial, slug: str = "right") -> Observation:
    """What is observed of a loop of :data:`gradaccum.loops.tokens.TOKEN_LOOPS` on a trial."""
    return observe_tokens(TOKEN_LOOPS[slug], trial)


@lru_cache(maxsize=128)
def losses_of_windows(problem: TokenProblem) -> Losses:
    """The mean loss of each window of a problem, epoch by epoch."""
    return window_losses(problem)


def window_tokens(problem: TokenProblem) -> Losses:
    """For each epoch what each of its windows holds, counted as the problem weights it."""
    return [[float(sum(window)) for window in windows(sizes, problem.accumulation_steps)] for sizes in problem.epochs]


def losses_after_updates(problem: TokenProblem) -> Losses:
    """The mean loss of each window of a problem, computed after its update."""
    model = problem.build_model()
    optimizer = problem.build_optimizer(model)

    def after_update(window: list[MicroBatch]) -> float:
        TOKEN_LOOPS["right"](model, optimizer, window, len(window), problem.ignore_index)
        x, targets = one_large_batch(window, problem.ignore_index)
        with torch.no_grad():
            return token_loss(model(x), targets, problem.ignore_index).item()

    epochs = range(len(problem.epochs))
    return [[after_update(window) for window in windows(problem.batches(e), problem.accumulation_steps)] for e in epochs]


def losses_in_evaluation(problem: TokenProblem) -> Losses:
    """The mean loss of each window of a problem, at the parameters it starts with, of a model in evaluation mode."""
    model = problem.build_model().eval()

    def of_window(window: list[MicroBatch]) -> float:
        x, targets = one_large_batch(window, problem.ignore_index)
        with torch.no_grad():
            return token_loss(model(x), targets, problem.ignore_index).item()

    epochs = range(len(problem.epochs))
    return [[of_window(window) for window in windows(problem.batches(e), problem.accumulation_steps)] for e in epochs]


def first_wrong_update(trial: TokenLoopTrial, seen: Observation, what: str) -> tuple[int, Tensor, Tensor, float] | None:
    """The first update whose gradient or movement, as ``what`` says, is not the one due, while all before it were right.

    None if there is none, or if updates are missing or too many. Else its place, what it has, what is due, and the tokens of
    its window.
    """
    found, due = seen.tensors.get(what), reference(trial).tensors[what]
    if seen.failure or found is None or found.shape != due.shape or not found.isfinite().all():
        return None
    tokens = [count for epoch in window_tokens(trial.problem) for count in epoch]
    for u, (one, right) in enumerate(zip(found.to(due), due, strict=True)):
        if not close(one, right, trial.problem.dtype):
            return u, one, right, tokens[u]
    return None


def has_other_rates(trial: TokenLoopTrial, seen: Observation) -> bool:
    """Whether some update moves the parameters otherwise than its gradient at the rates of the problem's optimizer does."""
    gradients, movements = seen.tensors.get("gradients"), seen.tensors.get("movements")
    if gradients is None or movements is None:
        return False
    model = trial.problem.build_model()
    groups = trial.problem.build_optimizer(model).param_groups
    rates = {id(p): group["lr"] for group in groups for p in group["params"]}
    row = torch.cat([torch.full((p.numel(),), rates[id(p)]) for p in trainable(model)]).to(gradients)
    return not close(movements, gradients * row, trial.problem.dtype)


@lru_cache(maxsize=128)
def start_of(problem: TokenProblem) -> Tensor:
    """``(P,)``, the parameters before training, on the CPU."""
    return flat_parameters(problem.build_model()).cpu()


def trains_like(trial: TokenLoopTrial, seen: Observation, slug: str = "right") -> bool:
    """Whether the parameters after each epoch are those that a known loop leaves."""
    found, other = seen.tensors.get("parameters"), reference(trial, slug).tensors["parameters"]
    if found is None or found.shape != other.shape:
        return False
    start = start_of(trial.problem)
    return close(found.to(other) - start, other - start, trial.problem.dtype)


def parameters_message(trial: TokenLoopTrial, seen: Observation) -> str:
    """What is wrong with the parameters after each epoch; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    found = seen.tensors["parameters"]
    if found.shape != reference(trial).tensors["parameters"].shape:
        return "Your function changed the shape of a parameter."
    if found.isnan().any():
        return "Parameters have become NaN."
    if not trains_like(trial, seen):
        right = epochs_right(trial, seen)
        when = f"After epoch {right + 1} the parameters" if right else "The parameters after training"
        return f"{when} are not those of the mean over each window's tokens{', though they were before' if right else ''}."
    return ""


def epochs_right(trial: TokenLoopTrial, seen: Observation) -> int:
    """After how many epochs, from the first on, the parameters are those due."""
    found, due = seen.tensors["parameters"], reference(trial).tensors["parameters"]
    start, dtype = start_of(trial.problem), trial.problem.dtype
    fine = [close(one.to(other) - start, other - start, dtype) for one, other in zip(found, due, strict=True)]
    return fine.index(False) if False in fine else 0


def moves_like(trial: TokenLoopTrial, seen: Observation, movements: Tensor) -> bool:
    """Whether the single updates of a frozen run are these movements ``(U, P)``."""
    found = seen.tensors["movements"]
    return found.shape == movements.shape and close(found.to(movements), movements, trial.problem.dtype)


def movements_of(trial: TokenLoopTrial, slug: str = "right") -> Tensor:
    """``(U, P)``, the movements of a known loop on a frozen trial."""
    return reference(trial, slug).tensors["movements"]


def is_nan_somewhere(seen: Observation) -> bool:
    """Whether parameters or returned losses of a run are NaN."""
    losses = [loss for row in seen.facts.get("losses", []) for loss in row or []]
    parameters = seen.tensors.get("parameters")
    return any(map(math.isnan, losses)) or (parameters is not None and bool(parameters.isnan().any()))
