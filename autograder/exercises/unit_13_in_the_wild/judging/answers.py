"""What a regression test says of trainers, and what it does instead if that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autograder.contract.observation import Observation
from autograder.exercises.unit_13_in_the_wild.judging.playing import accumulates_right
from autograder.exercises.unit_13_in_the_wild.observing.trainers import Build
from autograder.judging.calls import same_value

DOES = {
    "one": "does not divide its losses",
    "mean": "averages the means of unequal micro-batches",
    "positions": "divides by positions, padding too",
    "N": "divides a leftover window by N",
    "full": "never applies a leftover window",
    "every": "updates after every micro-batch",
    "never": "never updates",
}


def answers_message(part: Mapping[str, Build], observations: Mapping[str, Observation]) -> str:
    """What is wrong with the answers to the trainers of a part; empty if nothing is."""
    passed: list[Build] = []
    refused: list[Build] = []
    for name, build in part.items():
        seen, right = observations[name], accumulates_right(build)
        if seen.failure:
            return (
                f"{seen.failure.message} The trainer {_does(build)}." if seen.failure.kind == "raised" else seen.failure.message
            )
        if "raised" in seen.facts:
            return f"{seen.facts['raised']} The trainer {_does(build)}."
        if not isinstance(seen.facts.get("value"), bool):
            return "Return True or False."
        if not same_value(seen.facts["value"], right):
            (refused if right else passed).append(build)
    said = []
    if passed:
        said.append(f"{len(passed)} of {_wrong_in(part)} wrong trainers pass your test, such as one that {_does(passed[0])}.")
    if refused:
        fine = len(part) - _wrong_in(part)
        said.append(
            f"{len(refused)} of {fine} right trainers do not pass: one has N = {refused[0].steps}, micro-batches of "
            f"{', '.join(map(str, refused[0].counts()))} tokens."
        )
    return " ".join(said)


def _wrong_in(part: Mapping[str, Build]) -> int:
    return sum(not accumulates_right(build) for build in part.values())


def _does(build: Build) -> str:
    if accumulates_right(build):
        return "is right"
    if build.accented:
        return "weighs the tokens of a sequence differently, so that what is due cannot be told"
    if build.clear != "window":
        return "clears before every backward" if build.clear == "every" else "never clears"
    return DOES[build.weigh if build.weigh != "share" else build.ends]


WRONG_TESTS: dict[str, Callable[[Build], bool]] = {
    "test-passes-all": lambda build: True,
    "test-passes-none": lambda build: False,
    "test-without-steps": lambda build: accumulates_right(build) or build.ends == "every",
    "test-passes-untold": lambda build: accumulates_right(build) or build.accented or build.ends == "never",
    "test-without-leftover": lambda build: accumulates_right(build) or build.ends == "full" or build.weigh == "N",
}
"""Which trainers pass a test with a mistake, by its slug."""


def answers_mistakes(trials: Mapping[str, Build], observations: Mapping[str, Observation]) -> list[str]:
    """The slug of the mistake that explains every answer, if one does."""
    said = {name: observations[name].facts.get("value") for name in trials}
    if all(said[name] is accumulates_right(build) for name, build in trials.items()):
        return []
    return [slug for slug, passes in WRONG_TESTS.items() if all(said[n] is passes(b) for n, b in trials.items())][:1]
