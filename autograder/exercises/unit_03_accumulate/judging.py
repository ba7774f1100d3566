"""What is wrong with an accumulated gradient, and what comes of wrong formulas for a rate or an update."""

from __future__ import annotations

from torch import Tensor

from autograder.contract.observation import Observation
from autograder.judging.calls import Formula
from autograder.judging.large_batches import JOINED, is_cut_finely, is_one_forward
from autograder.judging.tolerances import close
from autograder.observing.loops import LoopTrial
from gradaccum.fingerprint import batch_gradient
from gradaccum.problems import Problem, flat_parameters, joined


def gradient_message(trial: LoopTrial, seen: Observation) -> str:
    """What is wrong with what a function left in ``.grad``, or did to the model; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    problem = trial.problem
    model = problem.build_model()
    before = flat_parameters(model).cpu()
    if not close(seen.tensors["parameters"][0].to(before), before, problem.dtype):
        return "Your function changed the parameters; it should only fill .grad."
    gradient = seen.tensors["gradients"][0].cpu()
    if problem.coupled and is_one_forward(problem, gradient):
        return JOINED
    if not (is_cut_finely(problem, gradient) if problem.coupled else _is_mean_gradient(problem, gradient)):
        return "What is in .grad is not the gradient of the mean loss over all samples."
    return "" if seen.facts["training_after"] else "Your function left the model in evaluation mode."


def _is_mean_gradient(problem: Problem, gradient: Tensor) -> bool:
    due = batch_gradient(problem.build_model(), problem.loss_fn, joined(problem.batches())).cpu()
    return close(gradient.to(due), due, problem.dtype)


def same_samples(config_a: tuple[int, int], config_b: tuple[int, int]) -> bool:
    """Whether two configurations ``(B, N)`` average over equally many samples."""
    return config_a[0] * config_a[1] == config_b[0] * config_b[1]


WRONG_RATES: dict[str, Formula] = {
    "rate-multiplied": lambda lr, n: lr * n,
    "rate-unchanged": lambda lr, n: lr,
}
"""By mistake, the rate that comes of it instead of ``lr / n``."""

WRONG_COMPARISONS: dict[str, Formula] = {
    "compares-sum": lambda a, b: sum(a) == sum(b),
    "compares-accumulation-steps": lambda a, b: a[1] == b[1],
    "compares-micro-batch": lambda a, b: a[0] == b[0],
    "compares-configurations": lambda a, b: a == b,
}
"""By mistake, the answer that comes of it instead of :func:`same_samples`."""
