"""Unit 03, accumulate: are B=8, N=1 and B=2, N=4 the same?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part, Verdict
from autograder.diagnosing.loop_diagnosis import Diagnosis, diagnose
from autograder.exercises.unit_03_accumulate.judging import (
    CHANGED,
    COMPARISONS_IN_WORDS,
    RATE,
    RATES_IN_WORDS,
    WRONG_COMPARISONS,
    WRONG_GRADIENT,
    WRONG_RATES,
    gradient_message,
    name_loss,
    name_weights,
    of_a_call,
    same_samples,
    times_in_words,
)
from autograder.judging.calls import in_words, judge_calls, remembered
from autograder.judging.failures import first_failure
from autograder.judging.large_batches import (
    CUT_OTHERWISE,
    JOINED,
    METERED,
    METERED_WINDOW,
    SEVERAL_GRAPHS,
    holds_several_graphs,
)
from autograder.judging.left_behind import DATA, OUTSIDE, kept_message
from autograder.judging.returned_kinds import returned_instead
from autograder.observing.calls import CallTrial, Plain
from autograder.observing.loops import LoopTrial
from gradaccum.diagnosis.catalogue import Mistake, mistake
from gradaccum.problems import Problem, best_dtype

UNIT = "03_accumulate"


class AccumulateGradient(Exercise[LoopTrial]):
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

    def trials(self, seed: int, device: str) -> dict[str, LoopTrial]:
        chance = trial_random(self.id, seed)
        size = chance.choice([2, 3])
        # Dividing by the size or by the count would be the same if they were equal.
        count = chance.choice([number for number in (3, 4, 5) if number != size])
        # Five micro-batches: nothing in the model has five of anything. Dividing by the size of the last one shows only if that
        # is not 1. It is smaller than the first, since some leave out such a one. The mean of all is no whole number.
        first = chance.choice([4, 6])
        last = chance.choice([number for number in (2, 4) if number < first])
        middle = chance.sample([number for number in (2, 3, 4, 6) if number not in (first, last)], 2)
        ragged = (first, *middle, 1, last)

        def problem(offset: int, *calls: Sequence[int], **options: Any) -> Problem:
            basics = Problem(device=device, dtype=best_dtype(device), width=8, gated=True, skewed=True)
            epochs = tuple(map(tuple, calls))
            return basics.with_(seed=seed + offset, accumulation_steps=len(epochs[0]), epochs=epochs, **options)

        uneven_window = (*METERED_WINDOW[:-1], METERED_WINDOW[-1] // 2)
        return {
            "equal": LoopTrial(problem(1, [size] * count, [size] * count, [1], outputs=1), frozen=True),
            "ragged": LoopTrial(problem(2, ragged, extras=True, tied=True, depth=3), frozen=True),
            "clean": LoopTrial(
                problem(3, [size] * (count + 1), [size] * (count + 1), stale=True, extras=True, renamed=True), frozen=True
            ),
            "overflowed": LoopTrial(problem(6, [size] * count, overflowed=True), frozen=True),
            "single": LoopTrial(problem(8, [size], stale=True), frozen=True),
            "memory": LoopTrial(problem(4, METERED_WINDOW, **METERED, coupled=True), frozen=True, meter=True),
            "ragged memory": LoopTrial(problem(7, uneven_window, **METERED), frozen=True, meter=True),
            "probe": LoopTrial(problem(5, ragged, stale=True, tied=True, depth=3), frozen=True),
        }

    def judge(self, trials: Mapping[str, LoopTrial], observations: Mapping[str, Observation]) -> Verdict:
        results = {part.name: gradient_message(trials[part.name], observations[part.name]) for part in self.parts}
        failure = first_failure(observations)
        if failed := observations["ragged memory"].failure:
            results["memory"] = results["memory"] or failed.message
        several = any(holds_several_graphs(trials[name], observations[name]) for name in ("memory", "ragged memory"))
        if several and results["memory"] in ("", JOINED):
            results["memory"] = SEVERAL_GRAPHS
        several = several or results["memory"] == JOINED
        if results["memory"] == WRONG_GRADIENT and not any(results[name] for name in ("equal", "ragged", "clean")):
            results["memory"] = SEVERAL_GRAPHS if several else CUT_OTHERWISE
        for name, what in SPECIAL.items():
            message = gradient_message(trials[name], observations[name])
            if message and not (results["equal"] or results["clean"]):
                results["clean"] = f"{what}: {message}"
        if not any(results[name] for name in ("equal", "ragged", "clean")):
            return self.verdict(results, mistakes=_named(("one-big-batch",) * several), failure=failure)
        elsewhere = [(trials[name], observations[name]) for name in ("equal", "ragged")]
        found = diagnose(trials["probe"], observations["probe"], *elsewhere)
        found = _without_windows(trials["probe"].problem, found)
        if found.remark in OUTSIDE.values():  # there is no step here, and the message says what changed
            found = replace(found, remark="")
        if gradient_message(trials["probe"], observations["probe"]) == CHANGED:  # other weights may have no gradient
            found = replace(found, slugs=tuple(slug for slug in found.slugs if slug != "detached"))
        if other_loss := name_loss(trials["equal"], observations["equal"]):
            found = replace(found, slugs=(other_loss, *found.slugs), found=found.found if found.slugs else None, remark="")
        # Numbers of a call that depends on those before it are not what calling once would show.
        depends = any(seen.kept for seen in observations.values()) or kept_message(observations["probe"], DATA)
        slugs = found.slugs if not several or "retained-graph" in found.slugs else (*found.slugs, "one-big-batch")
        return self.verdict(
            results,
            mistakes=_named(slugs),
            failure=failure,
            expected=found.expected,
            found=found.found,
            remark="" if depends else of_a_call(found.remark) or ("" if slugs else times_in_words(*elsewhere[0])),
        )


SPECIAL = {
    "overflowed": "If .grad holds infinity before the call",
    "single": "For a single micro-batch, where .grad holds something before the call",
}
"""Trials that matter if equal micro-batches are right otherwise, with something in ``.grad``, and what is special there."""

OF_WINDOWS = {"off-by-one-early", "off-by-one-late", "tail-dropped", "tail-stale", "tail-scale", "short-epoch-no-step"}
"""Mistakes that a function without windows cannot make, though its gradient may look like theirs."""


def _named(slugs: Sequence[str]) -> tuple[Mistake, ...]:
    """The mistakes with these slugs, in words of a call."""
    return tuple(replace(one, message=of_a_call(one.message), hint=of_a_call(one.hint)) for one in map(mistake, slugs))


def _without_windows(problem: Problem, found: Diagnosis) -> Diagnosis:
    """The diagnosis of a single gradient, from its weights where that of a loop would speak of windows or knows no name."""
    rows = found.found.coefficients.tolist() if found.found is not None and found.found.linear else []
    if "zero-before-step" in found.slugs:  # .grad is empty, or what it was before
        return replace(found, slugs=("grad-not-filled",))
    if len(rows) != 1 or (found.slugs and not OF_WINDOWS & set(found.slugs)):
        return found
    slugs = name_weights(problem.epochs[0], rows[0])
    return replace(found, slugs=slugs, remark="") if slugs else replace(found, slugs=())


class SumFormLr(Exercise[CallTrial]):
    """``sum_form_lr(lr, accumulation_steps) -> float``: the rate that makes summing equal averaging."""

    id = "sum_form_lr"
    section = "Two right formulas"
    unit = UNIT
    parts = (Part("rate", "the rate", 2),)

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        chance = trial_random(self.id, seed)
        # Below and above any bound that somebody may set: the power of two below is none of these.
        widths = (2, 1e-1), (chance.randint(520, 700), 1e-5), (1, 1e-2)
        pairs = [(float(f"{chance.uniform(1, 9) * scale:.6g}"), n) for n, scale in widths]  # which a message can give in full
        pairs.append((pairs[0][0], pairs[1][1]))  # an answer that was looked up by one of the two is then a wrong one
        return {str(k): CallTrial(pair) for k, pair in enumerate(pairs)}

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        def message(trial: CallTrial, found: Plain | None) -> str:
            if isinstance(found, int | float) and not isinstance(found, bool):
                rate, n = trial.arguments
                times = f"{found * n / rate:.3g}"
                if not 0 < found * n / rate < float("inf") or times == "1":
                    equal = "which does not make the two updates equal"
                    return f"For a rate of {rate:g} and N = {n}, you return {in_words(found)}, {equal}."
                return f"For a rate of {rate:g} and N = {n}, the rate you return makes the update {times} times as long as due."
            return returned_instead(in_words(found), "a number")

        def due(lr: float, n: int) -> float:
            return lr / n

        verdict = judge_calls(
            self,
            trials,
            observations,
            lambda _: "rate",
            due,
            WRONG_RATES,
            message,
            tolerance=RATE,
            described=RATES_IN_WORDS,
        )
        if verdict.mistakes or verdict.remark:
            return verdict
        by_rate = remembered(trials, observations, due, lambda trial: trial.arguments[0])
        return replace(verdict, remark=by_rate or remembered(trials, observations, due, lambda trial: trial.arguments[1]))


class SameUpdate(Exercise[CallTrial]):
    """``same_update(config_a, config_b) -> bool``: do two (B, N) configurations make the same update?"""

    id = "same_update"
    section = "When are they the same?"
    unit = UNIT
    parts = (Part("answers", "the right answer for every pair", 2),)

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        chance = trial_random(self.id, seed)
        b, n, k = chance.choice([2, 3, 5]), chance.choice([4, 6, 8]), chance.choice([2, 3])
        pairs = [
            ((b * n, 1), (b, n)),
            ((8, 12), (12, 8)),  # numbers that do not divide one another
            ((65_536, 4), (256, 1024)),  # more samples than Python keeps one object for; logarithms and roots are exact enough
            ((b, n), (b, n)),
            ((b, n + 1), (b, n)),
            ((b, n), (b + 1, n)),
            ((b, n), (b + 1, n - 1)) if (b + 1) * (n - 1) != b * n else ((b, n), (b + 2, n - 2)),
            ((b, 1), (b, n)),
            ((1, b * n), (b, n)),
            ((b, n), (b * k, n * k)),
            # As many samples; but sums of logarithms, quotients and products of roots differ in the last bit in one or both.
            ((143, 162), (234, 99)),
            ((5000, n), (5001, n)),
            ((2, 4), (2, 819_204)),  # with one greatest common divisor, and products that end in the same digits and bits
            ((4, 6), (3, 12)),  # with one least common multiple
            ((16, 1), (2, 4)),  # with one power
            ((77, 476), (187, 196)),  # see (143, 162)
            ((500_000, n), (300_101, n)),  # a great many samples, far from alike, and with another last digit
            ((9, 7), (8, 8)),  # one sample more
            ((1200, 1000), (1_200_001, 1)),  # and one of more than a million
            # And one of so many that float32 has no number for it; nor do logarithms of six decimals tell it.
            ((4105, 4105), (4104, 4106)),
            ((1000, 3), (1000, 5)),  # whatever the update, the last digits of the samples before it are the same
        ]
        return {str(i): CallTrial(pair) for i, pair in enumerate(pairs)}

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        def message(trial: CallTrial, found: Plain | None) -> str:
            due = "True" if same_samples(*trial.arguments) else "False"
            answer = repr(found) if isinstance(found, float) else in_words(found)  # 1 is as good as True, 1.0 is not
            return "For {} and {} your function returned {}, where {} was due.".format(*trial.arguments, answer, due)

        verdict = judge_calls(
            self,
            trials,
            observations,
            lambda _: "answers",
            same_samples,
            WRONG_COMPARISONS,
            message,
            described=COMPARISONS_IN_WORDS,
        )
        if verdict.mistakes or verdict.remark:
            return verdict
        return replace(verdict, remark=remembered(trials, observations, same_samples, lambda trial: trial.arguments[0]))
