"""Unit 02, memory limits: why can't the batch simply be larger?"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part, Verdict
from autograder.exercises.unit_02_memory_limits import mistakes  # noqa: F401 - enters them in the catalogue
from autograder.exercises.unit_02_memory_limits.judging.byte_counts import due_bytes, name_count
from autograder.exercises.unit_02_memory_limits.observing import SavedTrial
from autograder.judging.calls import RAISES, judge_calls
from autograder.observing.calls import CallTrial
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.problems import best_dtype

UNIT = "02_memory_limits"


class SavedBytes(Exercise):
    """``saved_bytes(model, loss_fn, x, y) -> int``: bytes autograd holds for the backward pass."""

    id = "saved_bytes"
    section = "What autograd keeps"
    unit = UNIT
    parts = (
        Part("plain", "what a linear layer and the loss keep", 1),
        Part("shared", "a tensor that two operations keep", 1),
        Part("deep", "parameters, which do not count", 1),
        Part("gated", "a view, which keeps its whole storage", 1),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        dtypes = {"plain": "float32", "shared": best_dtype(device), "deep": "float32", "gated": "float32"}
        # With these sizes no activation has the shape of a parameter except in the deep model, which needs larger ones.
        samples = {kind: chance.randint(20, 28) if kind == "deep" else chance.randint(4, 5) for kind in dtypes}
        return {
            kind: SavedTrial(kind, seed + k, samples[kind], chance.choice([6, 7, 8, 10, 11, 12]), device, dtype)
            for k, (kind, dtype) in enumerate(dtypes.items())
        }

    def judge(self, trials, observations):
        results, counts = {}, {}
        for name, trial in trials.items():
            results[name], found = _count_message(trial, observations[name])
            counts |= {} if found is None else {trial: found}
        failure = next((o.failure for o in observations.values() if o.failure), None)
        let_go = results["deep"] and observations["deep"].facts.get("let go") is True
        slugs = (name_count(counts) or ("tensors-let-go",) * bool(let_go)) if any(results.values()) else ()
        return self.verdict(results, mistakes=tuple(map(mistake, slugs)), failure=failure)


def _count_message(trial: SavedTrial, seen: Observation) -> tuple[str, float | None]:
    """What is wrong with a number of bytes, and the number. Bytes are whole: there is nothing to tolerate."""
    if seen.failure:
        return seen.failure.message, None
    value = seen.facts.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"Your function returned {seen.facts.get('type', type(value).__name__)} where a number of bytes was due.", None
    due = due_bytes(trial)
    return "" if value == due else f"You count {'more' if value > due else 'less'} than autograd holds.", value


FIT = 2e-3
"""Relative difference up to which a line is the same. Least squares in float64 leaves 2e-13 on these points, in float32 up to
1.2e-4 (over 2,000 seeds); a line that is fitted otherwise differs by more than 2e-2 on at least one of them."""


class MemoryLine(Exercise):
    """``memory_line(sizes, bytes) -> (fixed, per_sample)``: least squares of bytes = fixed + per_sample · B."""

    id = "memory_line"
    section = "From counts to a line"
    unit = UNIT
    parts = (Part("exact", "points on a line", 1), Part("scattered", "points beside a line, by least squares", 2))

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        trials = {}
        for name in ("exact 0", "exact 1", "scattered 0", "scattered 1", "scattered 2"):
            fixed, per_sample = 1000 * chance.randint(2, 9), 100 * chance.randint(2, 9)
            sizes = chance.sample([1, 2, 3, 5, 7, 9, 12], 5)
            off = [chance.choice([-1, 1]) * chance.randint(200, 900) * name.startswith("scattered") for _ in sizes]
            points = [fixed + per_sample * size + shift for size, shift in zip(sizes, off, strict=True)]
            trials[name] = CallTrial((sizes, points))
        return trials

    def judge(self, trials, observations):
        wrong = {
            "line-turned-round": lambda sizes, points: _least_squares(sizes, points)[::-1],
            "line-of-sizes": (_of_sizes, lambda sizes, points: _of_sizes(sizes, points)[::-1], _of_sizes_solved),
            "line-through-zero": (_through_zero, _mean_of_ratios),
            "line-through-two-points": tuple(map(_through, (_extremes, _ends, _first_two))),
        }
        message = "This is not the line with the least squares."
        return judge_calls(self, trials, observations, _kind, _least_squares, wrong, message, tolerance=FIT)


def _kind(name: str) -> str:
    """Trials are called ``"plan 2"`` after the part they belong to."""
    return name.split()[0]


def _least_squares(sizes, points):
    size, point = fmean(sizes), fmean(points)
    slope = sum((s - size) * (p - point) for s, p in zip(sizes, points, strict=True)) / sum((s - size) ** 2 for s in sizes)
    return point - slope * size, slope


def _of_sizes(sizes, points):
    return _least_squares(points, sizes)


def _of_sizes_solved(sizes, points):
    start, slope = _of_sizes(sizes, points)
    return -start / slope, 1 / slope


def _through_zero(sizes, points):
    return 0.0, sum(s * p for s, p in zip(sizes, points, strict=True)) / sum(s * s for s in sizes)


def _mean_of_ratios(sizes, points):
    return 0.0, fmean(p / s for s, p in zip(sizes, points, strict=True))


def _through(choose):
    """The formula of a line through two of the points."""

    def line(sizes, points):
        (s, p), (t, q) = choose(list(zip(sizes, points, strict=True)))
        slope = (q - p) / (t - s)
        return p - slope * s, slope

    return line


def _extremes(points):
    return min(points), max(points)


def _ends(points):
    return points[0], points[-1]


def _first_two(points):
    return points[0], points[1]


class PlanMicroBatches(Exercise):
    """``plan_micro_batches(effective_batch, budget, fixed, per_sample) -> (micro_batch_size, accumulation_steps)``."""

    id = "plan_micro_batches"
    section = "Explore: where the memory goes"
    unit = UNIT
    parts = (
        Part("largest", "the largest micro-batch that divides and fits", 1),
        Part("full", "a budget that is used to the last byte", 1),
        Part("none", "a ValueError with a reason when nothing fits", 1),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)

        def call(effective, room, spare, fixed=None):
            fixed, per_sample = fixed or chance.randint(3, 9) * 1000, chance.randint(3, 9) * 100
            return CallTrial((effective, fixed + per_sample * room + spare, fixed, per_sample))

        cuts = [*chance.sample([(60, 14), (90, 17), (48, 13), (42, 13), (36, 11), (84, 19)], 3), (37, 20), (24, 40)]
        exact = chance.sample([(60, 12), (90, 15), (48, 16), (42, 14), (36, 9)], 2)
        calls = {f"largest {k}": call(*cut, chance.randint(1, 99)) for k, cut in enumerate(cuts)}
        # In the full ones the fixed part is so large that its bytes would hold a larger micro-batch.
        calls |= {f"full {k}": call(*cut, 0, fixed=1000 * chance.randint(8, 9)) for k, cut in enumerate(exact)}
        # And here so small that who pays it for each micro-batch can pay it several times.
        calls |= {"largest 5": call(24, 22, chance.randint(1, 99), fixed=2000), "full 2": call(24, 12, 0, fixed=100)}
        return calls | {"none 0": call(24, 1, -chance.randint(1, 99)), "none 1": call(36, -2, 0)}

    def judge(self, trials, observations):
        formulas = {
            "plan-turned-round": (lambda *call: _plan(*call)[::-1],),
            "budget-ignored": (lambda effective, *_: (effective, 1),),
            "not-the-largest": (lambda effective, *_: (1, effective),),
            "halves-only": (_halves,),
            "does-not-divide": (_fill, _fill_and_drop, _fill_in_fractions),
            "fixed-for-each": (_pay_fixed_again,),
            "whole-batch-or-nothing": (_whole_or_nothing,),
            "whole-batch-not-tried": (_not_whole_batch,),
            "fixed-forgotten": (lambda effective, budget, fixed, per_sample: _plan(effective, budget, 0, per_sample),),
            "budget-not-used-up": (lambda effective, budget, *line: _plan(effective, budget - 1, *line),),
        }
        wrong = {slug: tuple(map(_where_something_fits, several)) for slug, several in formulas.items()}
        message = "This is not the largest micro-batch that divides the effective batch and fits."
        refusal = "Not even one sample fits, and no ValueError says so."
        verdict = judge_calls(self, trials, observations, _kind, _plan, wrong, message, refusal=refusal)
        silent = any("value" in observations[name].facts or "type" in observations[name].facts for name in ("none 0", "none 1"))
        named = (*verdict.mistakes, mistake("misfit-not-refused")) if silent else verdict.mistakes
        return _whole(replace(verdict, mistakes=named), observations)


def _whole(verdict: Verdict, observations) -> Verdict:
    """The verdict if numbers have to be ints as well; only one part asks for that."""
    largest, *others = verdict.results
    values = [seen.facts.get("value") for name, seen in observations.items() if _kind(name) == "largest"]
    if not largest.passed or all(isinstance(number, int) for value in values for number in value):
        return verdict
    largest = replace(largest, passed=False, message="B and N are right, but not both are ints.")
    return replace(verdict, results=(largest, *others), mistakes=(*verdict.mistakes, mistake("not-whole")))


def _room(budget, fixed, per_sample) -> int:
    return math.floor((budget - fixed) / per_sample)


def _plan(effective, budget, fixed, per_sample):
    return _largest(effective, lambda size: size <= _room(budget, fixed, per_sample))


def _largest(effective, fits):
    """The plan with the largest size that divides the effective batch and fits."""
    fitting = [size for size in range(1, effective + 1) if effective % size == 0 and fits(size)]
    return (fitting[-1], effective // fitting[-1]) if fitting else RAISES


def _where_something_fits(formula):
    """What a wrong formula says where a plan exists. Where none does, every answer is the same mistake."""
    return lambda *call: RAISES if _plan(*call) is RAISES else formula(*call)


def _halves(effective, budget, fixed, per_sample):
    """Halve until it fits, as trainers that want powers of two do."""
    size = effective
    while size > max(1, _room(budget, fixed, per_sample)):
        size //= 2
    return size, effective // size


def _fill(effective, budget, fixed, per_sample):
    size = min(effective, _room(budget, fixed, per_sample))
    return size, math.ceil(effective / size)


def _fill_in_fractions(effective, budget, fixed, per_sample):
    size = min(effective, _room(budget, fixed, per_sample))
    return size, effective / size


def _pay_fixed_again(effective, budget, fixed, per_sample):
    return _largest(effective, lambda size: effective // size * fixed + per_sample * size <= budget)


def _whole_or_nothing(effective, budget, fixed, per_sample):
    """What also comes out if all micro-batches together have to fit: N · (fixed + per sample · B) is least for N = 1."""
    return _largest(effective, lambda size: size == effective <= _room(budget, fixed, per_sample))


def _not_whole_batch(effective, budget, fixed, per_sample):
    room = _room(budget, fixed, per_sample)
    return _largest(effective, lambda size: size < effective and size <= room)


def _fill_and_drop(effective, budget, fixed, per_sample):
    size = min(effective, _room(budget, fixed, per_sample))
    return size, effective // size
