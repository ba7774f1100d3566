"""What a regression test says of trainers, and what it does instead if that is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from autograder.contract.observation import Observation
from autograder.exercises.unit_13_in_the_wild.judging.playing import accumulates_right, can_be_told, due, play, same
from autograder.exercises.unit_13_in_the_wild.observing.trainers import DEEDS, Build, UnseenTrial

DOES = {
    "one": "does not divide its losses",
    "mean": "averages the means of unequal micro-batches",
    "positions": "divides by positions, padding too",
    "N": "divides a leftover window by N",
    "full": "never applies a leftover window",
    "run": "applies a leftover window of the last epoch only",
    "every": "updates after every micro-batch",
    "two": "updates after every second micro-batch where N = 1 was meant",
}


def answers_message(trial: UnseenTrial, seen: Observation) -> str:
    """What is wrong with the answers to the trainers of a trial; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if "raised" in seen.facts:
        return seen.facts["raised"]
    said = answers_of(trial, seen)
    if said is None:
        return "Return True or False for every trainer."
    wrong = [build for build in trial.builds if not accumulates_right(build)]
    fine = [build for build in trial.builds if accumulates_right(build)]
    passed = [build for build in wrong if said[build]]
    refused = [build for build in fine if not said[build]]
    parts = []
    if passed:
        [(most, _)] = Counter(map(_does, passed)).most_common(1)  # what the part is about, and not a trainer of another kind
        verb, such = ("passes", ":") if len(passed) == 1 else ("pass", ", such as")
        parts.append(f"{len(passed)} of {len(wrong)} wrong trainers {verb} your test{such} one that {most}.")
    if refused:
        first, rule = refused[0], "AdamW" if refused[0].adam else "SGD"
        verb = "does" if len(refused) == 1 else "do"
        parts.append(
            f"{len(refused)} of {len(fine)} right trainers {verb} not pass, such as one with {rule}, N = {first.steps} and "
            f"micro-batches of {', '.join(map(str, first.counts()))} tokens."
        )
    return " ".join(parts)


def answers_of(trial: UnseenTrial, seen: Observation) -> dict[Build, bool] | None:
    """The answer to each trainer; None if there are other things than truth values."""
    said = seen.facts.get("value")
    if seen.failure or not isinstance(said, list) or len(said) != len(trial.builds) or {type(one) for one in said} != {bool}:
        return None
    return dict(zip(trial.builds, said, strict=True))


def _does(build: Build) -> str:
    if build.accented:
        return "weighs the tokens of a sequence differently, so that what is due cannot be told"
    if not build.updates:
        return "never updates"
    if build.clear != "window":
        return "clears before every backward" if build.clear == "every" else "never clears"
    return DOES[build.weigh if build.weigh != "share" else build.ends]


WRONG_TESTS: dict[str, Callable[[Build], bool]] = {
    "test-passes-all": lambda build: True,
    "test-passes-none": lambda build: False,
    "test-without-steps": lambda build: accumulates_right(build) or build.ends in ("every", "two"),
    "test-passes-untold": lambda build: accumulates_right(build) or build.accented or not build.updates,
    "test-without-leftover": lambda build: (
        accumulates_right(build) or (build.ends in ("full", "run") and bool(build.updates)) or build.weigh == "N"
    ),
}
"""Which trainers pass a test with a mistake, by its slug."""


def _passes_with(steps: Callable[[Build], int]) -> Callable[[Build], bool]:
    """Which trainers pass if they are watched as if this were N."""

    def passes(build: Build) -> bool:
        meant = replace(build, steps=steps(build))
        return can_be_told(build) and same(play(build), due(meant))

    return passes


WRONG_TESTS_IN_WORDS: dict[str, tuple[Callable[[Build], bool], ...]] = {
    "Of the trainers here, your test passes every one whose updates can be read, right or wrong.": (
        lambda build: accumulates_right(build) or not (build.accented or not build.updates),
    ),
    "Your test passes every trainer with N = 1, and tells all others apart.": (
        lambda build: accumulates_right(build) or build.steps == 1,
    ),
    "Your test passes no trainer with N = 1, and tells all others apart.": (
        lambda build: accumulates_right(build) and build.steps > 1,
    ),
    "Where N = 1 was meant, your test passes trainers that take two micro-batches for an update; it tells all others apart.": (
        lambda build: accumulates_right(build) or build.ends == "two",
    ),
    "Your test passes trainers that do not apply their last leftover window, and tells all others apart.": (
        lambda build: accumulates_right(build) or (build.ends == "full" and bool(build.updates)),
    ),
    "Your test fails a right trainer whose model learns in evaluation mode, as a note says; it tells all others apart.": (
        lambda build: accumulates_right(build) and not build.evaluating,
    ),
    "Your test answers like one that gives watch another N than the trainer's accumulation_steps.": (
        _passes_with(lambda build: len(build.lengths)),
        _passes_with(lambda build: 8),
    ),
}
"""Which trainers pass a test, by what it does."""


def answers_in_words(trials: Mapping[str, UnseenTrial], observations: Mapping[str, Observation]) -> str:
    """What a wrong test does with trainers, or which of them it passes; empty if there is nothing to say."""
    did = [set(seen.facts.get("did", ())) for seen in observations.values()]
    deeds = set.union(*did) - ({"trains none"} - set.intersection(*did))
    fitting = [
        words
        for words, several in WRONG_TESTS_IN_WORDS.items()
        if any(_explains(passes, trials, observations) for passes in several)
    ]
    if fitting or answers_mistakes(trials, observations):
        deeds -= {"leaves one out"}  # as one does that only asks a trainer for its N
    return next((DEEDS[deed] for deed in DEEDS if deed in deeds), next(iter(fitting), ""))


def answers_mistakes(trials: Mapping[str, UnseenTrial], observations: Mapping[str, Observation]) -> list[str]:
    """The slug of the mistake that explains every answer, if one does."""
    if _explains(accumulates_right, trials, observations):
        return []
    return [slug for slug, passes in WRONG_TESTS.items() if _explains(passes, trials, observations)][:1]


def _explains(
    passes: Callable[[Build], bool], trials: Mapping[str, UnseenTrial], observations: Mapping[str, Observation]
) -> bool:
    """Whether these trainers pass a test, and no others."""
    said = [answers_of(trial, observations[name]) for name, trial in trials.items()]
    return all(one is not None and all(answer is passes(build) for build, answer in one.items()) for one in said)
