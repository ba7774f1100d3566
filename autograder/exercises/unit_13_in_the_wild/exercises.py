"""Unit 13, in the wild: what is in the updates of a trainer that you did not write?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part, Verdict
from autograder.diagnosing.token_diagnosis import diagnose_tokens
from autograder.exercises.unit_13_in_the_wild.judging.answers import answers_in_words, answers_message, answers_mistakes
from autograder.exercises.unit_13_in_the_wild.judging.making import (
    FULL,
    LEFTOVER,
    WINDOWS,
    Lengths,
    fingerprints,
    uneven,
    unseen_trainers,
    without_error,
)
from autograder.exercises.unit_13_in_the_wild.judging.names import WRONG_NAMES, names, names_message
from autograder.exercises.unit_13_in_the_wild.observing.trainers import RepairTrial, UnseenTrial
from autograder.judging.calls import judge_calls
from autograder.judging.failures import first_failure
from autograder.judging.left_behind import DATA, kept_message
from autograder.judging.token_loops import parameters_message
from autograder.judging.token_updates import first_update_message
from autograder.judging.token_words import RENAMED, in_tokens
from autograder.observing.calls import CallTrial
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.problems import best_dtype
from gradaccum.problems.tokens import TokenProblem

UNIT = "13_in_the_wild"

ONLY_THERE = {
    "tokens": "Only one run goes wrong: some of its parameters are frozen or unused, and its optimizer has several groups.",
    "token 0": "Only one run goes wrong: token 0 is a target there, too.",
    "repeated": "Only one run goes wrong: a micro-batch comes again in another window of its epoch.",
}
"""Said of a trainer that is right in all runs but this one."""

DISTURBED = "Another trainer of your class trains at the same time, and the two disturb each other."

EXACT_ONLY = "All these names of yours would be right if the fingerprints held no error of measurement."
SPECIAL_LISTS = {
    "one": "Given a list with a single fingerprint, your function does not return a list with the name that is due.",
    "mixed": "In a list in which fingerprints with and without a leftover take turns, a name is wrong, although your names are "
    "right where all have a leftover, or none has.",
}
"""What is said of lists that show more than right names in each part do, by trial."""

OWN_TRAIN = "You override train, and nobody calls yours: the library calls its own, and hooks that you override."

CHANGED_LIST = "Your trainer changes the list of micro-batches that it is given as its data."

OTHER_DATA = "Your trainer puts something else in the place of its data, and windows are cut from what is there."


class NameThoseTrainers(Exercise[CallTrial]):
    """``name_those_trainers(fingerprints) -> list[str]``."""

    id = "name_those_trainers"
    section = "Explore: trainers of released libraries"
    unit = UNIT
    parts = (
        Part(FULL, "full windows", 1),
        Part(LEFTOVER, "leftover windows", 1),
        Part(WINDOWS, "updates and clearing at the wrong moment", 1),
    )

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        chance = trial_random(self.id, seed)
        given = {part.name: fingerprints(chance, part.name) for part in self.parts}
        exact = without_error([one for several in given.values() for one in several])
        trials = {name: CallTrial((several,)) for name, several in given.items()} | {"probe": CallTrial((exact,))}
        # Each of the two kinds follows the other.
        mixed = [one for pair in zip(given[LEFTOVER], given[FULL], strict=False) for one in pair]
        return trials | {"one": CallTrial((given[FULL][:1],)), "mixed": CallTrial((mixed,))}

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        def message(trial: CallTrial, found: object) -> str:
            return names_message(trial.arguments[0], found)

        asked = {part.name: trials[part.name] for part in self.parts}
        answered = {name: observations[name] for name in asked}
        verdict = judge_calls(self, asked, answered, lambda name: name, names, WRONG_NAMES, message)
        if verdict.passed:
            special = {
                name: words
                for name, words in SPECIAL_LISTS.items()
                if observations[name].facts.get("value") != names(trials[name].arguments[0])
            }
            results = dict.fromkeys(asked, "") | {FULL: next(iter(special.values()), "")}
            return self.verdict(results, failure=first_failure(observations))
        failed = any(seen.failure for seen in answered.values())
        if not failed and observations["probe"].facts.get("value") == names(trials["probe"].arguments[0]):
            return replace(verdict, mistakes=(), remark=EXACT_ONLY)
        lists = {name: _as_list(seen.facts.get("value")) for name, seen in answered.items()}
        every = all(len(lists[name]) == len(trial.arguments[0]) for name, trial in asked.items())
        if every and len({str(name) for several in lists.values() for name in several}) == 1:
            return replace(verdict, mistakes=(mistake("one-name-for-all"),))

        # What is said of a function that does not read all of a fingerprint is said of all its names.
        def explains(slug: str) -> bool:
            alike = WRONG_NAMES[slug]
            return all(answered[name].facts.get("value") == alike(trial.arguments[0]) for name, trial in asked.items())

        return replace(verdict, mistakes=tuple(one for one in verdict.mistakes if explains(one.slug)))


def _as_list(value: object) -> list:
    return value if isinstance(value, list) else []


class RepairedTrainer(Exercise[RepairTrial]):
    """``class RepairedTrainer(Trainer)``: its hooks make up for what is wrong with the trainer of the library."""

    id = "RepairedTrainer"
    section = "A trainer with hooks"
    unit = UNIT
    parts = (
        Part("tokens", "micro-batches with unequal numbers of tokens", 1.5),
        Part("leftover", "leftover windows", 1),
        Part("epochs", "one epoch after the other", 0.5),
        Part("empty", "micro-batches and windows without a single token", 0.5),
    )

    def trials(self, seed: int, device: str) -> dict[str, RepairTrial]:
        chance = trial_random(self.id, seed)
        n = chance.choice([3, 4])
        left = chance.randint(2, n - 1)

        def trial(offset: int, *epochs: Lengths, frozen: bool = False, beside: bool = False, **options: Any) -> RepairTrial:
            basics: dict[str, Any] = {"accumulation_steps": n, "device": device, "dtype": best_dtype(device), "width": 8}
            return RepairTrial(
                TokenProblem(seed=seed + offset, lengths=epochs, **basics | options), frozen=frozen, beside=beside
            )

        def hard(count: int) -> Lengths:
            while True:  # until each window has a token for each of N micro-batches; those that have fewer are in "empty"
                lengths = uneven(chance, count, n, 2, 3)
                if all(sum(map(sum, lengths[k : k + n])) >= n for k in range(0, count, n)):
                    return lengths

        # In float32 fewer digits show: autocast leaves float64 alone, and a model made float64 is not what was given.
        narrow: dict[str, Any] = {"dtype": "float32"}

        # The last window has a single token, fewer than it has micro-batches.
        holes = [*hard(n), *((0,), (0, 0), (0,), (0,))[:n], *hard(n), *((0,), (1,), (0,), (0,))[:n]]
        holes[chance.randrange(n)] = (0,)
        holes[2 * n + chance.randrange(n)] = (0, 0)
        again = hard(2 * n)
        while sum(map(sum, (*again[n:-1], again[0]))) == sum(map(sum, again[:n])):
            again = hard(2 * n)
        last, beside = ((hard(n), hard(n)) for _ in range(2))
        while sum(map(sum, last[0])) == sum(map(sum, last[1])):
            last = hard(n), hard(n)
        while sum(map(sum, beside[0])) == sum(map(sum, beside[1])):  # the other trainer has them in the other order
            beside = hard(n), hard(n)
        return {
            "tokens": trial(1, hard(3 * n), gated=True, extras=True, grouped=True),
            "token 0": trial(9, hard(2 * n), zero_counts=True),
            "repeated": trial(10, (*again[:-1], again[0]), repeated=True),
            "no accumulation": trial(2, ((1,), *hard(3)), accumulation_steps=1, **narrow),
            "leftover": trial(3, hard(n + left)),
            "short": trial(4, hard(n - 1)),
            # Their windows are 2, 3 and 1: a number of a window that goes on is wrong in the second epoch.
            # The last two are equally long, and hold unequal numbers of tokens.
            "epochs": trial(5, hard(n + left), hard(2 * n + 1), hard(1), *last, gated=True),
            "beside": trial(8, (*beside[0], *beside[1]), beside=True),
            "empty": trial(6, tuple(holes)),
            "probe": trial(7, hard(n + left), hard(2 * n + 1), hard(n - 1), gated=True, frozen=True),
        }

    def judge(self, trials: Mapping[str, RepairTrial], observations: Mapping[str, Observation]) -> Verdict:
        said = {name: parameters_message(trial, observations[name]) for name, trial in trials.items() if name != "probe"}
        changes_list = any("list" in seen.facts.get("own", ()) for seen in observations.values())
        changes_data = next(filter(None, (kept_message(seen, DATA) for seen in observations.values())), "")
        results = {
            "tokens": said["tokens"]
            or said["token 0"]
            or said["repeated"]
            or (said["no accumulation"] and f"With N = 1: {said['no accumulation']}"),
            "leftover": said["leftover"] or (said["short"] and f"In an epoch shorter than a window: {said['short']}"),
            "epochs": said["epochs"],
            "empty": said["empty"] or kept_message(observations["empty"], DATA) or CHANGED_LIST * changes_list,
        }
        failure = first_failure(observations)
        if not any(results.values()):
            alone = said["beside"] if observations["beside"].failure else said["beside"] and DISTURBED
            return self.verdict(results | {"epochs": alone}, failure=failure)
        found = diagnose_tokens(trials["probe"], observations["probe"])
        named = dict.fromkeys(RENAMED.get(slug, slug) for slug in found.slugs)
        shown = {"expected": found.expected, "found": found.found} if found.slugs or found.remark else {}
        lost = [name for name, message in said.items() if message]
        if lost == ["empty"] and results["empty"] == said["empty"]:
            results["empty"] += first_update_message(trials["empty"], observations["empty"])
        if lost == ["no accumulation"]:
            results["tokens"] += first_update_message(trials["no accumulation"], observations["no accumulation"])
        remark = found.remark
        if len(lost) == 1 == sum(map(bool, results.values())) and not (shown or failure):
            remark = ONLY_THERE.get(lost[0], remark)
        own = observations["probe"].facts.get("own", ())
        if "train" in own:  # what is wrong is then the library's, unless hooks are overridden as well
            named, shown, remark = named if len(own) > 1 else {}, shown if len(own) > 1 else {}, OWN_TRAIN
        elif changes_list and CHANGED_LIST not in results.values():
            remark = CHANGED_LIST
        elif changes_data and not named and changes_data not in results.values():
            remark, shown = changes_data, {}
        elif "data" in own and not (named or remark):
            remark = OTHER_DATA
        return self.verdict(results, mistakes=tuple(map(in_tokens, named)), failure=failure, remark=remark, **shown)


class AccumulatesRight(Exercise[UnseenTrial]):
    """``accumulates_right(make_trainer) -> bool``: a regression test for any trainer."""

    id = "accumulates_right"
    section = "A test for any trainer"
    unit = UNIT
    parts = (
        Part("weights", "what losses are divided by", 1),
        Part("windows", "updates and clearing at the wrong moment", 1),
        Part("ends", "leftover windows", 1),
        Part("untold", '"cannot tell" is not a pass', 0.5),
    )

    def trials(self, seed: int, device: str) -> dict[str, UnseenTrial]:
        chance = trial_random(self.id, seed)
        made = unseen_trainers(chance, seed)
        return {part.name: UnseenTrial(tuple(chance.sample(made[part.name], len(made[part.name])))) for part in self.parts}

    def judge(self, trials: Mapping[str, UnseenTrial], observations: Mapping[str, Observation]) -> Verdict:
        results = {name: answers_message(trial, observations[name]) for name, trial in trials.items()}
        slugs = answers_mistakes(trials, observations)
        remark = answers_in_words(trials, observations) if any(results.values()) else ""
        return self.verdict(results, mistakes=tuple(map(mistake, slugs)), failure=first_failure(observations), remark=remark)
