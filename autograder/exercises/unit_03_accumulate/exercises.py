"""Unit 03, accumulate: are B=8, N=1 and B=2, N=4 the same?"""

from __future__ import annotations

from torch import Tensor

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part
from autograder.diagnosing.loops import diagnose
from autograder.exercises.unit_03_accumulate import mistakes  # noqa: F401 - enters them in the catalogue
from autograder.judging.calls import judge_calls
from autograder.judging.comparing import close
from autograder.judging.loops import holds_several_graphs, is_cut_finely, is_one_forward
from autograder.observing.calls import CallTrial
from autograder.observing.loops import LoopTrial
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.fingerprint import batch_gradient
from gradaccum.problems import Problem, best_dtype, flat_parameters, joined

UNIT = "03_accumulate"

SEVERAL_GRAPHS = "The graphs of several micro-batches are in memory at once."
JOINED = "Samples of several micro-batches go through the model together."


class AccumulateGradient(Exercise):
    """``accumulate_gradient(model, loss_fn, micro_batches) -> None``: leave the mean gradient in ``.grad``."""

    id = "accumulate_gradient"
    section = "Explore: B×N equivalence"
    unit = UNIT
    parts = (
        Part("equal", "micro-batches of equal size", 2),
        Part("ragged", "ragged micro-batches", 2),
        Part("clean", "discarding what .grad held before", 1),
        Part("memory", "one micro-batch's graph at a time", 1),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        size, count = chance.choice([2, 3]), chance.choice([3, 4, 5])
        ragged = tuple(chance.sample([1, 2, 3, 4, 5], 4))
        basics = {"device": device, "dtype": best_dtype(device), "width": 8, "gated": True}

        def one_window(offset, sizes, **options):
            return Problem(seed + offset, len(sizes), (tuple(sizes),), **basics | options)

        return {
            "equal": LoopTrial(one_window(1, [size] * count), frozen=True),
            "ragged": LoopTrial(one_window(2, ragged, extras=True), frozen=True),
            "clean": LoopTrial(one_window(3, [size] * count, stale=True), frozen=True),
            "memory": LoopTrial(one_window(4, [16] * 24, width=2, depth=12, coupled=True), frozen=True, meter=True),
            "probe": LoopTrial(one_window(5, ragged, stale=True), frozen=True),
        }

    def judge(self, trials, observations):
        results = {name: _gradient_message(trials[name], observations[name]) for name in ("equal", "ragged")}
        results["clean"] = _gradient_message(trials["clean"], observations["clean"])
        results["memory"] = _gradient_message(trials["memory"], observations["memory"])
        failure = next((o.failure for o in observations.values() if o.failure), None)
        several = holds_several_graphs(trials["memory"], observations["memory"])
        if several and results["memory"] in ("", JOINED):
            results["memory"] = SEVERAL_GRAPHS
        several = several or results["memory"] == JOINED
        if not any(results[name] for name in ("equal", "ragged", "clean")):
            return self.verdict(results, mistakes=(mistake("one-big-batch"),) if several else (), failure=failure)
        found = diagnose(trials["probe"], observations["probe"])
        slugs = found.slugs if not several or "retained-graph" in found.slugs else (*found.slugs, "one-big-batch")
        return self.verdict(
            results,
            mistakes=tuple(map(mistake, slugs)),
            failure=failure,
            expected=found.expected,
            found=found.found,
            remark=found.remark,
        )


def _gradient_message(trial: LoopTrial, seen: Observation) -> str:
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


class SumFormLr(Exercise):
    """``sum_form_lr(lr, accumulation_steps) -> float``: the rate that makes summing equal averaging."""

    id = "sum_form_lr"
    section = "Two right formulas"
    unit = UNIT
    parts = (Part("rate", "the rate", 2),)

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        pairs = [(round(chance.uniform(0.01, 1), 3), n) for n in (chance.randint(2, 5), chance.randint(6, 40), 1)]
        return {str(k): CallTrial(pair) for k, pair in enumerate(pairs)}

    def judge(self, trials, observations):
        wrong = {"rate-multiplied": lambda lr, n: lr * n, "rate-unchanged": lambda lr, n: lr}
        message = "The rate you return does not make the two updates equal."
        return judge_calls(self, trials, observations, lambda _: "rate", lambda lr, n: lr / n, wrong, message)


class SameUpdate(Exercise):
    """``same_update(config_a, config_b) -> bool``: do two (B, N) configurations make the same update?"""

    id = "same_update"
    section = "When are they the same?"
    unit = UNIT
    parts = (Part("answers", "the right answer for every pair", 2),)

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        b, n, k = chance.choice([2, 3, 5]), chance.choice([4, 6, 8]), chance.choice([2, 3])
        pairs = [
            ((b * n, 1), (b, n)),
            ((b, n), (n, b)),
            ((b * k, n), (b, n * k)),
            ((b, n), (b, n)),
            ((b, n), (b, n + 1)),
            ((b, n), (b + 1, n)),
            ((b, n), (b + 1, n - 1)) if (b + 1) * (n - 1) != b * n else ((b, n), (b + 2, n - 1)),
            ((b, 1), (b, n)),
        ]
        return {str(i): CallTrial(pair) for i, pair in enumerate(pairs)}

    def judge(self, trials, observations):
        wrong = {
            "compares-sum": lambda a, b: sum(a) == sum(b),
            "compares-accumulation-steps": lambda a, b: a[1] == b[1],
            "compares-micro-batch": lambda a, b: a[0] == b[0],
            "compares-configurations": lambda a, b: a == b,
        }
        message = "At least one pair gets the wrong answer."
        return judge_calls(self, trials, observations, lambda _: "answers", _same_samples, wrong, message)


def _same_samples(config_a: tuple[int, int], config_b: tuple[int, int]) -> bool:
    return config_a[0] * config_a[1] == config_b[0] * config_b[1]
