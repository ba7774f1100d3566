"""Unit 02, memory limits: why can't the batch simply be larger?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeGuard

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part, Verdict
from autograder.exercises.unit_02_memory_limits.judging.byte_counts import count_in_words, due_bytes, name_count
from autograder.exercises.unit_02_memory_limits.judging.lines import (
    FIT,
    LINES_IN_WORDS,
    WRONG_LINES,
    least_squares,
    squares,
)
from autograder.exercises.unit_02_memory_limits.judging.plans import PLANS_IN_WORDS, WRONG_PLANS, plan
from autograder.exercises.unit_02_memory_limits.observing import SavedTrial
from autograder.judging.calls import in_words, judge_calls
from autograder.judging.failures import first_failure
from autograder.judging.returned_kinds import returned_instead
from autograder.observing.calls import CallTrial, Plain
from autograder.support.side_by_side import side_by_side
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.problems import best_dtype

UNIT = "02_memory_limits"


class SavedBytes(Exercise[SavedTrial]):
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

    def trials(self, seed: int, device: str) -> dict[str, SavedTrial]:
        chance = trial_random(self.id, seed)
        dtypes = {"plain": "float32", "shared": best_dtype(device), "deep": "float32", "gated": "float32"}
        # With these sizes no activation has the shape of a parameter except in the deep model, which needs larger ones.
        samples = {kind: chance.randint(20, 28) if kind == "deep" else chance.randint(4, 5) for kind in dtypes}
        return {
            kind: SavedTrial(kind, seed + k, samples[kind], chance.choice([6, 7, 8, 10, 11, 12]), device, dtype)
            for k, (kind, dtype) in enumerate(dtypes.items())
        }

    def judge(self, trials: Mapping[str, SavedTrial], observations: Mapping[str, Observation]) -> Verdict:
        results: dict[str, str] = {}
        counts: dict[SavedTrial, float] = {}
        for name, trial in trials.items():
            results[name], count = _count_message(trial, observations[name])
            if count is not None:
                counts[trial] = count
        if not any(results.values()):
            results["plain"] = next(filter(None, map(_left_message, observations.values())), "")
            results["plain"] = results["plain"] or _fewer_message(trials["plain"], observations["plain"])
        wrong = {name for name, message in results.items() if message}
        miscounted = any(count != due_bytes(trial) for trial, count in counts.items())
        freed = "deep" in wrong and observations["deep"].facts.get("let go") is True
        # Which tensors share an address depends on the allocator then, and the number may be that of another mistake by chance.
        merged = freed and wrong == {"deep"} and counts.get(trials["deep"], math.inf) < due_bytes(trials["deep"])
        telling = miscounted and len(counts) > 1  # there are so many ways to count that one of them leads to any single number
        slugs = (telling and not merged and name_count(counts)) or (("tensors-let-go",) if freed else ())
        remark = count_in_words(counts) if telling and not slugs else ""
        if wrong and not slugs and not remark and not all(seen.facts.get("again", True) for seen in observations.values()):
            remark = "A later call with the same arguments returns another number."
        return self.verdict(results, mistakes=tuple(map(mistake, slugs)), failure=first_failure(observations), remark=remark)


def _count_message(trial: SavedTrial, seen: Observation) -> tuple[str, float | None]:
    """What is wrong with a number of bytes, and the number. Bytes are whole: there is nothing to tolerate."""
    if seen.failure:
        return seen.failure.message, None
    value = seen.facts.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return returned_instead(seen.facts.get("type") or in_words(value), "a number of bytes"), None
    due = due_bytes(trial)
    return "" if value == due else f"You count {in_digits(value)} bytes, and {due:,} are due.", value


def in_digits(number: float) -> str:
    """A number of bytes, however wrong, with its thousands set apart."""
    return f"{number:,}" if abs(number) < 1e15 and number % 1 == 0 else f"{number:g}"


def _left_message(seen: Observation) -> str:
    """What is wrong with what a function that counts rightly leaves behind; empty if nothing is."""
    if not seen.facts.get("kept", True):
        return "Your function changed the model, x or y, which it was only to measure."
    return "" if seen.facts.get("again", True) else "A later call with the same arguments returns another number."


def _fewer_message(trial: SavedTrial, seen: Observation) -> str:
    """What is wrong with the number of bytes for fewer samples, which a later call returns; empty if nothing is."""
    found, smaller = seen.facts.get("fewer"), trial.smaller()
    if smaller is None or found == (due := due_bytes(smaller)):
        return ""
    return f"A later call with the same model and fewer samples returns {in_words(found)}, and {due:,} bytes are due."


class MemoryLine(Exercise[CallTrial]):
    """``memory_line(sizes, bytes) -> (fixed, per_sample)``: least squares of bytes = fixed + per_sample · B."""

    id = "memory_line"
    section = "From counts to a line"
    unit = UNIT
    parts = (Part("exact", "points on a line", 1), Part("scattered", "points off a line, by least squares", 2))

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        chance = trial_random(self.id, seed)
        trials = {}
        for name in ("exact 0", "exact 1", "scattered 0", "scattered 1", "scattered 2"):
            fixed, per_sample = 1000 * chance.randint(2, 9), 100 * chance.randint(2, 9)
            sizes = chance.sample([1, 2, 3, 5, 7, 9, 12], 5)
            off = [chance.choice([-1, 1]) * chance.randint(200, 900) * name.startswith("scattered") for _ in sizes]
            if name == "scattered 0":  # these do not rise with the sizes, so sorting both lists breaks their pairs
                per_sample, up = 200, sorted(sizes)[::2]
                off = [abs(shift) + 500 if size in up else -abs(shift) - 500 for size, shift in zip(sizes, off, strict=True)]
            points = [fixed + per_sample * size + shift for size, shift in zip(sizes, off, strict=True)]
            trials[name] = CallTrial((sizes, points))
        # Real numbers of bytes do not fit into 32 bits, there may be any number of points, and the line may begin below zero.
        gigabytes, sizes = [10**9 * chance.randint(2, 9) for _ in range(2)], chance.sample(range(1, 17), 7)
        trials["exact 2"] = CallTrial((sizes, [gigabytes[0] + gigabytes[1] * size for size in sizes]))
        trials[CLOSE] = CallTrial((list(CLOSE_SIZES), [41_123_456_789 + 287_654_321 * size for size in CLOSE_SIZES]))
        # Measured bytes may fall with the size, by a few for each sample: rounded, such a slope is another one.
        slope = 0.0
        while abs(slope - round(slope)) < 0.1:
            sizes = chance.sample(range(30, 60), 6)
            points = [9_000 - 10 * size + chance.choice([-1, 1]) * chance.randint(2, 9) for size in sizes]
            slope = least_squares(sizes, points)[1]
        trials[FALLING] = CallTrial((sizes, points))
        sizes, off = chance.sample(range(9, 20), 7), [chance.choice([-1, 1]) * chance.randint(200, 900) for _ in range(7)]
        trials["scattered 3"] = CallTrial((sizes, [900 * size - 5000 + shift for size, shift in zip(sizes, off, strict=True)]))
        sizes = chance.sample(range(1, 17), 2)
        trials[TWO] = CallTrial((sizes, [3000 + 500 * size for size in sizes]))
        # A size may come back with other bytes, and a whole point.
        sizes, off[3], off[5] = [2, 9, 5, 9, 7, 5], -off[1], off[2]
        trials[REPEATED] = CallTrial((sizes, [5000 + 700 * size + shift for size, shift in zip(sizes, off[:6], strict=True)]))
        return trials

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        # Between two points of the same size there is no slope, and of two points none can be left out, so mistakes are named
        # by the other lists.
        verdict = self._judge({name: trial for name, trial in trials.items() if name not in (REPEATED, TWO)}, observations)
        return self._judge(trials, observations) if verdict.passed else verdict

    def _judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        return judge_calls(
            self,
            trials,
            observations,
            _part_of,
            least_squares,
            WRONG_LINES,
            _line_message,
            tolerance=FIT,
            described=LINES_IN_WORDS,
        )


REPEATED = "scattered 4"
"""The list in which one size is there twice, with other bytes."""

TWO = "exact 3"
"""The list of two points."""

FALLING = "scattered 5"
"""The list in which bytes fall with the size."""

CLOSE, CLOSE_SIZES = "exact 4", (1000, 1004, 1001, 1016, 1009, 1013, 1006)
"""The list of large sizes that differ little. The normal equations in float32 miss its line by 0.6 % or more, in whatever form;
other ways to fit it in float32 by less than 0.01 %. The numbers are fixed, so that both hold at every seed."""


ROUNDING = 1e-20
"""Share of the squares of all bytes below which the squares of a line are nothing but rounding, which leaves 1e-31 of them.
Where points lie on no line, 1e-8 or more of them is left."""


def _line_message(trial: CallTrial, found: Plain | None) -> str:
    """What is wrong with a line that is not the right one."""
    if not _is_pair(found):
        return _no_pair_message(found, "a pair of numbers")
    due = least_squares(*trial.arguments)
    fixed_right, slope_right = (math.isclose(*numbers, rel_tol=FIT) for numbers in zip(found, due, strict=True))
    if fixed_right or slope_right:
        right, wrong = ("fixed part", "slope") if fixed_right else ("slope", "fixed part")
        return f"In one of the lists your {right} is that of the least-squares line, at least nearly, but your {wrong} is not."
    sizes, measured = trial.arguments
    own, least = (squares(line, *trial.arguments) for line in (found, due))
    least = least if least > ROUNDING * sum(each**2 for each in measured) else 0.0
    if f"{own:.2g}" == f"{least:.2g}":
        return "This is not the least-squares line, though its squares add up to nearly as little."
    its_own, possible = side_by_side(own, least, 3)
    said = f"This is not the least-squares line: the sum of its squares is {its_own}, where {possible} is possible."
    if least > FIT * sum(each**2 for each in measured):  # no line goes through all points
        return said
    gives = [found[0] + found[1] * size for size in sizes]
    at = max(range(len(sizes)), key=lambda k: abs(gives[k] - measured[k]))
    its_own = f"{gives[at]:,.0f}" if abs(gives[at]) >= 1 else f"{gives[at]:.3g}"
    return f"{said} For a micro-batch of {sizes[at]} it gives {its_own} bytes, and {measured[at]:,.0f} were measured."


def _no_pair_message(found: Plain | None, due: str) -> str:
    if isinstance(found, list) and len(found) == 2:
        return f"Your function returned two values where {due} was due, but not both are numbers."
    return returned_instead(in_words(found), due)


def _is_pair(found: Plain | None) -> TypeGuard[list[float]]:
    return isinstance(found, list) and len(found) == 2 and all(isinstance(number, int | float) for number in found)


class PlanMicroBatches(Exercise[CallTrial]):
    """``plan_micro_batches(effective_batch, budget, fixed, per_sample) -> (micro_batch_size, accumulation_steps)``."""

    id = "plan_micro_batches"
    section = "Explore: where the memory goes"
    unit = UNIT
    parts = (
        Part("largest", "the largest micro-batch that divides and fits", 1),
        Part("full", "a budget that is used to the last byte", 1),
        Part("none", "a ValueError with a reason when nothing fits", 1),
    )

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        chance = trial_random(self.id, seed)

        def call(effective: int, room: int, spare: int, fixed: int | None = None) -> CallTrial:
            fixed = chance.randint(3, 9) * 1000 if fixed is None else fixed
            per_sample = chance.randint(3, 9) * 100
            return CallTrial((effective, fixed + per_sample * room + spare, fixed, per_sample))

        # A few bytes are missing for the next divisor, so a size that is rounded up to it does not fit.
        cuts = [*chance.sample([(60, 15), (90, 18), (48, 16), (42, 14), (36, 12), (84, 21)], 3), (37, 20), (24, 40)]
        exact = chance.sample([(60, 12), (90, 15), (48, 16), (42, 14), (36, 9)], 2)
        calls = {f"largest {k}": call(*cut, -chance.randint(1, 99)) for k, cut in enumerate(cuts)}
        # In the full ones the fixed part is so large that its bytes would hold a larger micro-batch.
        calls |= {f"full {k}": call(*cut, 0, fixed=1000 * chance.randint(8, 9)) for k, cut in enumerate(exact)}
        # Here it is so small that a plan that pays it for each micro-batch can pay it several times.
        calls |= {"largest 5": call(24, 22, chance.randint(1, 99), fixed=2000), "full 2": call(24, 12, 0, fixed=100)}
        calls |= {"largest 6": call(1, 3, chance.randint(1, 99)), "full 3": call(30, 15, 0, fixed=0)}
        # What is fixed may be below zero, so that something fits into a budget of zero or less.
        # The same bytes for another batch: an answer that was looked up by them is then a wrong one.
        calls["largest 7"] = CallTrial((25, *calls["largest 0"].arguments[1:]))
        calls |= {"full 4": CallTrial((24, 0, -8 * 300, 300)), "full 5": CallTrial((40, -500, -500 - 8 * 700, 700))}
        calls["full 6"] = CallTrial((24, 900, 900 - 8 * 300, 300))
        calls["full 8"] = CallTrial((24, 1800, 1800 - 8 * 300, 300))  # with the other sign it fits as well, for a smaller B
        # Here 12 samples fit, whether what is fixed counts as it is, as zero or with the other sign.
        calls["largest 16"] = CallTrial((24, 5000, -10, 300))
        # The fixed part is most of the budget, so a share of it is much less.
        calls["largest 15"] = CallTrial((24, 1050, 900, 100))
        calls |= {"largest 8": call(41, 60, 1), "largest 9": call(2048, 100, 1)}  # a prime that fits; more than Python recurses
        # Real numbers of bytes do not fit into 32 bits, and all of a large batch may.
        large, fixed = chance.choice([2310, 2520, 2730]), 10**9 * chance.randint(12, 14)
        calls["largest 10"] = CallTrial((large, 10**9 * chance.randint(60, 80), fixed, 15 * 10**6 + 1))
        calls["largest 11"] = CallTrial((large, 17 * 2**32 + 2**31 - chance.randint(1, 99), fixed, 80 * 10**6 + 1))
        calls["largest 13"] = call(2003, 60, 1)  # a prime again, which takes more steps than any fixed number somebody may try
        calls["largest 17"] = call(5, 3, 1)  # a small prime, for which few steps are enough
        calls["largest 14"] = call(60, 12, chance.randint(1, 9))  # shows a plan for a budget that is a little smaller
        # The arguments are whole numbers of any size: a division of floats loses the last byte of these.
        calls[HUGE] = CallTrial((60, fixed + 12 * 10**16 - 1, fixed, 10**16))
        calls["full 7"] = call(24, 1, 0)  # one sample is all that fits, and needs every byte
        return calls | {
            "none 0": call(24, 1, -chance.randint(1, 99)),
            "none 1": call(36, -2, 0),
            "none 2": call(1, -1, 0, fixed=0),
            "none 3": call(2048, 0, 1),
        }

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        # With these a division of floats gives other plans, so mistakes are named by the other calls.
        verdict = self._judge({name: trial for name, trial in trials.items() if name != HUGE}, observations)
        return self._judge(trials, observations) if verdict.passed else verdict

    def _judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        def message(trial: CallTrial, found: Plain | None) -> str:
            if _is_pair(found):
                return _plan_message(trial, found)
            return _no_pair_message(found, "the pair (B, N)")

        refusal = "Not even one sample fits, and no ValueError says so."
        verdict = judge_calls(
            self, trials, observations, _part_of, plan, WRONG_PLANS, message, refusal=refusal, described=PLANS_IN_WORDS
        )
        misfits = [observations[name] for name in ("none 0", "none 1", "none 2", "none 3")]
        silent = all("value" in seen.facts or "type" in seen.facts for seen in misfits)
        named = (*verdict.mistakes, mistake("misfit-not-refused")) if silent else verdict.mistakes
        if any(_is_pair(seen.facts.get("value")) and seen.facts["value"][0] == 1 for seen in observations.values()):
            named = tuple(one for one in named if one.slug != "single-sample-not-tried")
        return _require_ints(replace(verdict, mistakes=named), {name: observations[name] for name in trials})


HUGE = "largest 12"
"""The call with more bytes than a float can count."""


def _plan_message(trial: CallTrial, found: list[float]) -> str:
    """What is wrong with a pair (B, N) that is not the right one, or is given where none is due."""
    effective, budget, fixed, per_sample = trial.arguments
    size, steps = found
    yours = f"For an effective batch of {effective:,} you return B = {in_words(size)} and N = {in_words(steps)}"
    if size % 1 or steps % 1:
        return f"{yours}, and not both are whole numbers."
    if size * steps != effective:
        return f"{yours}, and B × N is not exactly the effective batch."
    if fixed + per_sample * size > budget:
        return f"{yours}, and such a micro-batch does not fit the budget."
    larger = "all of it fits at once" if fixed + per_sample * effective <= budget else "a larger B that divides it fits, too"
    return f"{yours}, but {larger}."


def _part_of(name: str) -> str:
    """Trials are called ``"largest 2"`` after the part they belong to."""
    return name.split()[0]


def _require_ints(verdict: Verdict, observations: Mapping[str, Observation]) -> Verdict:
    """The verdict on plans if the numbers have to be ints as well, which only the part ``"largest"`` asks for."""
    largest, *others = verdict.results
    values = [seen.facts["value"] for name, seen in observations.items() if largest.passed and _part_of(name) == "largest"]
    if not largest.passed or all(isinstance(number, int) for value in values for number in value):
        return verdict
    largest = replace(largest, passed=False, message="Your B and N are whole numbers, but not both are ints.")
    return replace(verdict, results=(largest, *others), mistakes=(*verdict.mistakes, mistake("not-whole")))
