"""Unit 07, when equivalence breaks: is it really the same as a large batch?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from autograder.contract.exercise import Exercise
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part
from autograder.exercises.unit_07_when_equivalence_breaks import mistakes  # noqa: F401 - enters them in the catalogue
from autograder.exercises.unit_07_when_equivalence_breaks.judging import (
    adds_up,
    left_over,
    original_kept,
    replaced,
    weights_kept,
    why_no_model,
)
from autograder.exercises.unit_07_when_equivalence_breaks.observing import NormTrial
from autograder.judging.calls import judge_calls
from autograder.observing.calls import CallTrial
from gradaccum.components import COMPONENTS, breaks
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

    def trials(self, seed, device):
        groups = trial_random(self.id, seed).sample([2, 3, 4, 6], 4)
        return {
            kind: NormTrial(kind, 10 * seed + k, groups[k], device, training=kind != "deep")
            for k, kind in enumerate(("flat", "deep", "conv", "double"))
        }

    def judge(self, trials, observations):
        results: dict[str, str] = dict.fromkeys((part.name for part in self.parts), "")
        slugs: list[str] = []
        looks = {"replaced": replaced, "weights": weights_kept, "original": original_kept, "equivalence": adds_up}
        for part, look in looks.items():
            for name, trial in trials.items():
                if name != "double" or part == "weights":
                    results[part] = results[part] or why_no_model(observations[name]) or look(trial, observations[name], slugs)
        slugs = [*left_over(trials, observations), *slugs]
        failure = next((o.failure for o in observations.values() if o.failure), None)
        return self.verdict(results, mistakes=tuple(map(mistake, dict.fromkeys(slugs))), failure=failure)


class MatchedBnMomentum(Exercise):
    """``matched_bn_momentum(momentum, accumulation_steps) -> float``."""

    id = "matched_bn_momentum"
    section = "If you must keep BatchNorm"
    unit = UNIT
    parts = (Part("momentum", "the momentum for any N", 1.5),)

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        momenta = chance.sample([0.1, 0.15, 0.2, 0.25, 0.3, 0.4], 4)
        steps = [1, *chance.sample([2, 3, 4, 5, 8], 3)]
        return {f"call {k}": CallTrial(call) for k, call in enumerate(zip(momenta, steps, strict=True))}

    def judge(self, trials, observations):
        wrong = {
            "momentum-unchanged": lambda m, n: m,
            "momentum-divided": lambda m, n: m / n,
            "matched-wrong-way": (lambda m, n: 1 - (1 - m) ** n, lambda m, n: m * n, lambda m, n: min(1.0, m * n)),
            "kept-not-taken": ((lambda m, n: m ** (1 / n)), (lambda m, n: (1 - m) ** (1 / n)), (lambda m, n: m**n)),
        }
        message = partial(_left_message, _LEFT_OF_RUNNING, lambda m, n: (1 - m) ** n)
        part = lambda name: "momentum"  # noqa: E731
        return judge_calls(self, trials, observations, part, _bn_momentum, wrong, message, tolerance=NUMBERS)


NUMBERS = 1e-5
"""Relative difference up to which two numbers are the same: float32 leaves 1e-6, a wrong formula is 1e-2 off."""


def _bn_momentum(momentum, accumulation_steps):
    return 1 - (1 - momentum) ** (1 / accumulation_steps)


_LEFT_OF_RUNNING = (
    "For a momentum of {0:g} and N = {1} you return {value:g}. {1} passes with that leave {left:.3g} of the old running value; "
    "one pass with {0:g} leaves {due:.3g}."
)
_LEFT_OF_GRADIENT = (
    "For β = {0:g} and N = {1} you return {value:g}. One update with that leaves {left:.3g} of a gradient; "
    "{1} updates with {0:g} leave another share."
)


def _left_message(words: str, left: Callable[[float, int], float], trial: CallTrial, found: object) -> str:
    """What N passes, or one update, would leave with the number that was returned."""
    if (
        isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) < 1e6
    ):  # of which powers are numbers, too
        return "Your function did not return a number between 0 and 1."
    value, steps = trial.arguments
    return words.format(value, steps, value=found, left=left(found, steps), due=1 - value)


class MatchedBeta(Exercise):
    """``matched_beta(beta, accumulation_steps) -> float``: the same memory in samples when N updates become one."""

    id = "matched_beta"
    section = "Explore: momentum effects"
    unit = UNIT
    parts = (Part("beta", "the coefficient for any N", 1.5),)

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        betas = chance.sample([0.8, 0.85, 0.9, 0.95, 0.98, 0.99], 4)
        steps = [1, *chance.sample([2, 3, 4, 6, 8], 3)]
        return {f"call {k}": CallTrial(call) for k, call in enumerate(zip(betas, steps, strict=True))}

    def judge(self, trials, observations):
        wrong = {
            "beta-unchanged": lambda b, n: b,
            "beta-divided": lambda b, n: b / n,
            "beta-wrong-way": (lambda b, n: b ** (1 / n), lambda b, n: 1 - (1 - b) / n),
            "beta-first-order": (lambda b, n: 1 - (1 - b) * n, lambda b, n: max(0.0, 1 - (1 - b) * n)),
            "beta-is-kept": (
                *(lambda b, n: 1 - (1 - b) ** (1 / n), lambda b, n: 1 - (1 - b) ** n),
                *(lambda b, n: (1 - b) ** n, lambda b, n: (1 - b) ** (1 / n), lambda b, n: 1 - b**n),
            ),
        }
        message = partial(_left_message, _LEFT_OF_GRADIENT, lambda b, n: b)
        part = lambda name: "beta"  # noqa: E731
        return judge_calls(self, trials, observations, part, lambda b, n: b**n, wrong, message, tolerance=NUMBERS)


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

    def trials(self, seed, device):
        return {"answers": CallTrial()}

    def judge(self, trials, observations):
        seen = observations["answers"]
        answers = seen.facts.get("value")
        if seen.failure or not isinstance(answers, dict):
            message = seen.failure.message if seen.failure else "Your function did not return a dictionary."
            return self.verdict({part.name: message for part in self.parts}, failure=seen.failure)
        results, slugs = {}, []
        for part in self.parts:
            keys = [key for key, component in COMPONENTS.items() if component.group == part.name]
            wrong = [key for key in keys if not _agrees(answers.get(key), breaks(COMPONENTS[key]))]
            slugs += [MISTAKEN[key] for key in wrong if isinstance(answers.get(key), bool | int)]
            results[part.name] = _look_again(wrong[0], answers) if wrong else ""
        return self.verdict(results, mistakes=tuple(map(mistake, dict.fromkeys(slugs))))


def _agrees(answer: object, due: bool) -> bool:
    return isinstance(answer, bool | int) and answer in (0, 1) and bool(answer) == due


def _look_again(key: str, answers: Mapping) -> str:
    if key not in answers:
        return f"You say nothing about {key}."
    return (
        f"Look again at {key}."
        if isinstance(answers[key], bool | int)
        else f"What you say about {key} is neither True nor False."
    )


MISTAKEN = {
    "linear": "sound-layer-blamed",
    "batchnorm-training": "batchnorm-trusted",
    "batchnorm-eval": "sound-layer-blamed",
    "layernorm": "sound-layer-blamed",
    "groupnorm": "sound-layer-blamed",
    "momentum": "optimizer-blamed",
    "adamw": "optimizer-blamed",
    "weight-decay": "optimizer-blamed",
    "step-per-micro-batch": "many-updates-trusted",
    "clip-per-window": "window-clip-blamed",
    "clip-per-micro-batch": "micro-clip-trusted",
    "contrastive-loss": "contrastive-trusted",
}
"""By component, the mistake a wrong answer is."""
