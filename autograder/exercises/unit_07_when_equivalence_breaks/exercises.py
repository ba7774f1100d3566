"""Unit 07, when equivalence breaks: is it really the same as a large batch?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part, Verdict
from autograder.exercises.unit_07_when_equivalence_breaks.judging.batchnorm_replacement import (
    addition_message,
    affine_message,
    leftover_slugs,
    missing_model_message,
    original_message,
    places_message,
    replacement_message,
)
from autograder.exercises.unit_07_when_equivalence_breaks.judging.coefficients import (
    BETAS_IN_WORDS,
    FIVE_DECIMALS,
    FLOAT32,
    MOMENTA_IN_WORDS,
    WRONG_BETAS,
    WRONG_MOMENTA,
    beta_message,
    few_digits,
    matched_beta,
    matched_momentum,
    momentum_message,
)
from autograder.exercises.unit_07_when_equivalence_breaks.judging.components import (
    MISTAKEN,
    TURNED_ROUND,
    answer_message,
    is_answer,
    turned_round,
    wrong_answers,
)
from autograder.exercises.unit_07_when_equivalence_breaks.observing import NormTrial
from autograder.judging.calls import Formula, judge_calls, remembered
from autograder.observing.calls import CallTrial
from gradaccum.diagnosis.catalogue import mistake

UNIT = "07_when_equivalence_breaks"


class ReplaceBatchnorm(Exercise):
    """``replace_batchnorm(model, num_groups) -> Module``: every BatchNorm1d and BatchNorm2d becomes a GroupNorm."""

    id = "replace_batchnorm"
    section = "Explore: BatchNorm divergence"
    unit = UNIT
    parts = (
        Part("replaced", "every BatchNorm replaced and nothing else changed", 1),
        Part("weights", "weights and biases kept", 1),
        Part("original", "the given model left as it was", 1),
        Part("equivalence", "gradients that add up to the large batch's", 1),
    )
    tidy = "original"

    def trials(self, seed: int, device: str) -> dict[str, NormTrial]:
        groups = [*trial_random(self.id, seed).sample([2, 3, 4, 6], 4), 1]
        return {
            kind: NormTrial(kind, 10 * seed + k, groups[k], device, training=kind != "deep")
            for k, kind in enumerate(("flat", "deep", "conv", "double", "none"))
        }

    def judge(self, trials: Mapping[str, NormTrial], observations: Mapping[str, Observation]) -> Verdict:
        results = {part.name: "" for part in self.parts}
        slugs: list[str] = []
        messages = {
            "replaced": replacement_message,
            "weights": affine_message,
            "original": original_message,
            "equivalence": addition_message,
        }
        for part, message in messages.items():
            for name, trial in trials.items():
                seen = observations[name]
                missing = missing_model_message(seen)
                # Its dtypes cannot compute together, and code that fails for want of a weight loses the weights only.
                if name != "double" or part == "weights" or (part != "equivalence" and not missing):
                    results[part] = results[part] or missing or message(trial, seen, slugs)
        for name, trial in trials.items():
            if not missing_model_message(observations[name]):
                results["replaced"] = results["replaced"] or places_message(trial, observations[name])
        slugs = [*leftover_slugs(trials, observations), *slugs]
        failure = next((o.failure for o in observations.values() if o.failure), None)
        return self.verdict(results, mistakes=tuple(map(mistake, dict.fromkeys(slugs))), failure=failure)


def _calls(coefficients: Sequence[float], steps: Sequence[int]) -> dict[str, CallTrial]:
    """Calls with one coefficient and number of steps after another, and with the first and the last number of steps once more.

    An answer that was looked up by one of the two arguments is then a wrong one. For N = 1 the largest of the coefficients is
    due as it is, above any bound that somebody may set.
    """
    calls = [*zip(coefficients, steps, strict=True), (coefficients[-2], steps[-1]), (max(coefficients), steps[0])]
    return {f"call {k}": CallTrial(call) for k, call in enumerate(calls)}


def _otherwise_explained(
    verdict: Verdict, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation], formula: Formula
) -> Verdict:
    """The verdict, with a remark on what is wrong if no formula explains it: answers looked up, or too few digits."""
    if verdict.passed or verdict.mistakes or verdict.remark:
        return verdict
    remark = (
        remembered(trials, observations, formula, lambda trial: trial.arguments[0])
        or remembered(trials, observations, formula, lambda trial: trial.arguments[1])
        or few_digits(trials, observations, formula)
    )
    return replace(verdict, remark=remark)


class MatchedBnMomentum(Exercise):
    """``matched_bn_momentum(momentum, accumulation_steps) -> float``."""

    id = "matched_bn_momentum"
    section = "If you must keep BatchNorm"
    unit = UNIT
    parts = (Part("momentum", "the momentum for any N", 1.5),)

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        chance = trial_random(self.id, seed)
        momenta = [chance.choice(some) for some in ([0.2, 0.35], [0.05, 0.08], [0.25, 0.3, 0.4], [0.96, 0.97, 0.98])]
        momenta += [chance.choice([0.003, 0.005]), chance.choice([0.2, 0.3, 0.5])]
        steps = [1, *chance.sample([2, 3, 4, 5, 8], 3), chance.choice([12, 20, 32]), chance.choice([100, 128, 200])]
        return _calls(momenta, steps)

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        verdict = judge_calls(
            *(self, trials, observations, lambda name: "momentum", matched_momentum, WRONG_MOMENTA, momentum_message),
            tolerance=FLOAT32,
            absolute=FIVE_DECIMALS,
            described=MOMENTA_IN_WORDS,
        )
        return _otherwise_explained(verdict, trials, observations, matched_momentum)


class MatchedBeta(Exercise):
    """``matched_beta(beta, accumulation_steps) -> float``: the same memory in samples when N updates become one."""

    id = "matched_beta"
    section = "Explore: momentum effects"
    unit = UNIT
    parts = (Part("beta", "the coefficient for any N", 1.5),)

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        chance = trial_random(self.id, seed)
        # Near 1 a few steps change so little that wrong formulas look right. The smallest leaves less than 0.001.
        betas = [*chance.sample([0.8, 0.85, 0.9, 0.95], 3), chance.choice([0.25, 0.3]), 0.999, chance.choice([0.98, 0.99])]
        steps = [
            1,
            *chance.sample([2, 3, 4], 2),
            chance.choice([6, 8]),
            chance.choice([12, 20, 32]),
            chance.choice([100, 150, 200]),
        ]
        return _calls(betas, steps)

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        verdict = judge_calls(
            *(self, trials, observations, lambda name: "beta", matched_beta, WRONG_BETAS, beta_message),
            tolerance=FLOAT32,
            absolute=FIVE_DECIMALS,
            described=BETAS_IN_WORDS,
        )
        return _otherwise_explained(verdict, trials, observations, matched_beta)


class BreaksEquivalence(Exercise):
    """``breaks_equivalence() -> dict[str, bool]`` for the components of :data:`gradaccum.components.COMPONENTS`."""

    id = "breaks_equivalence"
    section = "Exact, or not?"
    unit = UNIT
    parts = (
        Part("layers", "the five layers", 1),
        Part("updates", "the four kinds of update", 1),
        Part("clipping and losses", "the two ways to clip and the loss", 1),
    )

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        return {"answers": CallTrial(), "again": CallTrial()}

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        results = {part.name: "" for part in self.parts}
        slugs: list[str] = []
        for name, where in (("answers", ""), ("again", "Called a second time: ")):
            seen = observations[name]
            answers = seen.facts.get("value")
            if seen.failure or not isinstance(answers, dict):
                message = seen.failure.message if seen.failure else "Your function did not return a dictionary."
                return self.verdict({part: said or where + message for part, said in results.items()}, failure=seen.failure)
            for part in results:
                wrong = wrong_answers(part, answers)
                slugs += [MISTAKEN[key] for key in wrong if not where and is_answer(answers.get(key))]
                results[part] = results[part] or (where + answer_message(wrong[0], answers) if wrong else "")
        if turned_round(observations["answers"].facts["value"]):  # one slip, and not as many errors as there are answers
            return self.verdict(results, remark=TURNED_ROUND)
        return self.verdict(results, mistakes=tuple(map(mistake, dict.fromkeys(slugs))))
