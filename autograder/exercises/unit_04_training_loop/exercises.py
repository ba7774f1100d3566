"""Unit 04, training loop: where do step and zero_grad go?"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Failure, Observation
from autograder.contract.trials import probe_length, trial_random, uneven_windows
from autograder.contract.verdict import Part, Verdict
from autograder.diagnosing.loop_diagnosis import Diagnosis, diagnose, updates_in_trial
from autograder.exercises.unit_04_training_loop.judging import (
    clean_message,
    cut_message,
    is_prefetched,
    is_whole_prefetched,
    losses_message,
    movement_message,
    moving_losses_message,
    overflow_message,
    repaired_message,
)
from autograder.judging.failures import first_failure
from autograder.judging.large_batches import (
    JOINED,
    MAX_JOINED,
    METERED,
    METERED_WINDOW,
    SEVERAL_GRAPHS,
    for_one,
    holds_several_graphs,
    moves_unused,
    training_in_words,
    updates_in_epochs,
    uses_up_streams,
)
from autograder.judging.left_behind import DATA, MODEL, kept_message
from autograder.judging.returned_kinds import returned_instead
from autograder.observing.loops import LoopTrial
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.fingerprint_words import listing
from gradaccum.problems import Problem, best_dtype

UNIT = "04_training_loop"


class Repair(Exercise[LoopTrial]):
    """A wrong loop that is given, to be repaired; all or nothing."""

    unit = UNIT
    parts = (Part("repaired", "a loop that trains like large batches", 1),)
    leftover = False

    def trials(self, seed: int, device: str) -> dict[str, LoopTrial]:
        chance = trial_random(self.id, seed)
        n = chance.choice([3, 4, 5])
        size, left = _size(chance, n), chance.randint(2, n - 1) if self.leftover else 0
        # A leftover of several micro-batches, one of a single one, an epoch without, and one that is shorter than a window.
        lengths = (2 * n + left, n + 1, n, left) if self.leftover else (2 * n, n)
        # In the second epoch micro-batches have N samples, so that samples are not taken for micro-batches.
        epochs = tuple((n if k == 1 else size,) * length for k, length in enumerate(lengths))
        problem = Problem(seed + 1, n, epochs, width=8, gated=True, skewed=True, device=device, dtype=best_dtype(device))
        training, probe = problem.with_(momentum=0.9), problem.with_(seed=seed + 2)
        # In float32, which a function may not turn into float64.
        single = training.with_(seed=seed + 4, accumulation_steps=1, epochs=((size,) * 2, (size,)), dtype="float32")
        cut = problem.with_(seed=seed + 3, epochs=((size,) * n,), coupled=True)
        cuts = {"cut": LoopTrial(cut)}
        if self.leftover:
            cuts["cut leftover"] = LoopTrial(cut.with_(epochs=((size,) * left,)))
        return {
            "training": LoopTrial(training),
            "single": LoopTrial(single),
            "single probe": LoopTrial(_probing(single), frozen=True),
            "probe": LoopTrial(probe, frozen=True),
            **cuts,
        }

    def judge(self, trials: Mapping[str, LoopTrial], observations: Mapping[str, Observation]) -> Verdict:
        seen = observations["training"]
        results = {"repaired": repaired_message(trials["training"], seen)}
        if not results["repaired"]:
            cuts = (cut_message(trials[name], observations[name]) for name in trials if name.startswith("cut"))
            single = trials["single"]
            alone = for_one(repaired_message(single, observations["single"]), single.problem)
            results["repaired"] = alone or next(filter(None, cuts), "")
            slugs = ("one-big-batch",) * (results["repaired"] == JOINED)
            remark = for_one(updates_in_trial(trials["single probe"], observations["single probe"])) if alone else ""
            failure = first_failure(observations)
            return self.verdict(results, mistakes=tuple(map(mistake, slugs)), failure=failure, remark=remark)
        found = diagnose(trials["probe"], observations["probe"])
        if not (found.slugs or found.remark):
            found = replace(found, remark=training_in_words(trials["training"], seen))
        return _diagnosed(self, results, found, (), seen.failure)


class RepairedEarlyClear(Repair):
    """``repaired_early_clear``: the loop that clears before every backward."""

    id = "repaired_early_clear"
    section = "Clearing too early"


class RepairedEagerStep(Repair):
    """``repaired_eager_step``: the loop that updates after every micro-batch."""

    id = "repaired_eager_step"
    section = "Updating too early"


class RepairedLostTail(Repair):
    """``repaired_lost_tail``: the loop that throws the leftover window away."""

    id = "repaired_lost_tail"
    section = "A leftover that is lost"
    leftover = True


class TrainEpoch(Exercise[LoopTrial]):
    """``train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps) -> list[float]``."""

    id = "train_epoch"
    section = "Explore: loop timeline"
    unit = UNIT
    parts = (
        Part("full", "full windows, one micro-batch's graph at a time", 1),
        Part("leftover", "leftover windows", 1),
        Part("ragged", "ragged micro-batches", 1),
        Part("stream", "a one-shot stream of micro-batches", 1),
        Part("clean", "clean gradients at both ends of an epoch", 1),
        Part("losses", "the returned losses", 1),
    )

    def trials(self, seed: int, device: str) -> dict[str, LoopTrial]:
        chance = trial_random(self.id, seed)
        n = chance.choice([3, 4, 5])
        size, left = _size(chance, n), chance.randint(2, n - 1)
        uneven = uneven_windows(chance, [1, 2, 3, 4, 5, 6], n, 3)
        basics = Problem(accumulation_steps=n, device=device, dtype=best_dtype(device), width=8, skewed=True)

        def problem(offset: int, *epochs: Iterable[int], **options: Any) -> Problem:
            return basics.with_(seed=seed + offset, epochs=tuple(map(tuple, epochs)), **options)

        # In this order windows of any width from N - 1 to N + 1 leave something over that a later update shows.
        every_kind = ([*uneven[0], *uneven[1][:left]], [size] * probe_length(2, n, left), [size] * (n - 1))
        everything = {"one_shot": True, "extras": True, "stale": True, "gated": True, "outputs": 1}
        return {
            "full": LoopTrial(problem(2, [size] * (2 * n), [size] * n, gated=True, momentum=0.9)),
            "single": LoopTrial(single := problem(9, [2, 2, 2], [2], accumulation_steps=1, dtype="float32", stale=True)),
            "single probe": LoopTrial(_probing(single), frozen=True),
            "memory": LoopTrial(problem(3, METERED_WINDOW, accumulation_steps=24, **METERED, coupled=True), meter=True),
            "leftover": LoopTrial(problem(4, [size] * (n + left), [size] * (n - 1), [size], [size] * (n + 1))),
            "ragged": LoopTrial(problem(5, uneven[0] + uneven[2], extras=True)),
            "stream": LoopTrial(problem(6, [3] * 10, accumulation_steps=2, one_shot=True)),
            "clean": LoopTrial(problem(7, [size] * (n + left), [size] * n, [size] * n, stale=True, skewed=False), frozen=True),
            "losses": LoopTrial(problem(8, [*uneven[1], *uneven[0], *uneven[2][:left]], [size] * n), frozen=True),
            "overflowed": LoopTrial(problem(11, [size], [size] * (n + 1), overflowed=True, grouped=0.5)),
            "together": LoopTrial(problem(10, [*uneven[2], *uneven[0][:left]], uneven[1][:1], uneven[0], **everything)),
            "probe": LoopTrial(problem(1, *every_kind, stale=True, gated=True), frozen=True),
        }

    def judge(self, trials: Mapping[str, LoopTrial], observations: Mapping[str, Observation]) -> Verdict:
        def movement(name: str) -> str:
            return movement_message(trials[name], observations[name])

        single = trials["single"].problem
        results = {name: movement(name) for name in ("full", "leftover", "ragged", "stream")}
        full = observations["full"]
        if not full.failure:
            results["full"] = kept_message(full, DATA) or results["full"] or kept_message(full)
        results["ragged"] = kept_message(observations["ragged"], MODEL) or results["ragged"]
        results["clean"] = clean_message(trials["clean"], observations["clean"])
        results["clean"] = results["clean"] or overflow_message(
            trials["overflowed"], observations["overflowed"], also_moves=not results["leftover"]
        )
        # With N = 1 .grad holds something at first, too, which costs its point once.
        alone = "" if results["clean"] else for_one(movement("single"), single)
        alone = alone or kept_message(observations["single"], MODEL)
        results["full"] = results["full"] or alone
        if not any(results.values()):
            problem = movement("together") or kept_message(observations["together"])
            if problem and moves_unused(trials["together"], observations["together"]):
                results["clean"] = "What .grad of an unused parameter held before the call is part of an update."
            elif problem:
                made = updates_in_epochs(trials["together"], observations["together"])
                results["stream"] = f"On a stream with everything at once: {problem}{made and f' {made}'}"
        wrong_moves = any(results.values())
        results["losses"], slugs = losses_message(trials["losses"], observations["losses"])
        if not results["losses"] and not results["ragged"]:
            name = "ragged" if wrong_moves else "together"
            results["losses"] = moving_losses_message(trials[name], observations[name])
            if not (results["losses"] or wrong_moves):
                results["losses"] = for_one(moving_losses_message(trials["single"], observations["single"]), single)
        extra = [*slugs]
        if holds_several_graphs(trials["memory"], observations["memory"]):
            results["full"] = results["full"] or SEVERAL_GRAPHS
            extra.append("one-big-batch")
        elif not results["full"]:
            results["full"] = cut_message(trials["memory"], observations["memory"], MAX_JOINED)
            extra += ["one-big-batch"] * (results["full"] == JOINED)
        if not observations["stream"].failure and is_prefetched(trials["stream"], observations["stream"]):
            results["stream"] = results["stream"] or "More than one window was fetched ahead of an update."
            extra += ["epoch-prefetched"] * is_whole_prefetched(trials["stream"], observations["stream"])
        if uses_up_streams({name: trial.problem for name, trial in trials.items()}, observations):
            extra.append("stream-used-up")
        failure = first_failure(observations)
        if not wrong_moves:
            return self.verdict(results, mistakes=tuple(map(mistake, extra)), failure=failure)
        elsewhere = [(trials[name], observations[name]) for name in ("clean", "losses")]
        found = diagnose(trials["probe"], observations["probe"], *elsewhere)
        if not (found.slugs or found.remark or extra or observations["clean"].failure):
            # Epochs without leftovers show updates that are made in addition to those that are due.
            found = replace(found, remark=diagnose(trials["clean"], observations["clean"]).remark)
        if not (found.slugs or found.remark or extra):
            remark = training_in_words(trials["full"], observations["full"])
            wrong = (updates_in_epochs(trials[name], observations[name]) for name, said in results.items() if said)
            remark = remark or next(filter(None, wrong), "")
            if not remark and results["full"] == alone:
                remark = for_one(updates_in_trial(trials["single probe"], observations["single probe"]))
            found = replace(found, remark=remark)
        return _diagnosed(self, results, found, extra, failure)


PUZZLE = {
    "A": "never-zero",
    "B": "off-by-one-early",
    "C": "no-scale",
    "D": "retained-graph",
    "E": "zero-every",
    "F": "tail-dropped",
}
"""The loop behind each letter of the puzzle."""

CANDIDATES = tuple(sorted((*PUZZLE.values(), "off-by-one-late", "step-every", "tail-scale")))
"""The mistakes to choose from, in alphabetical order, which gives nothing away about the letters. The last three are not in the
puzzle, on whose problem their fingerprints differ from those six."""

PUZZLE_PROBLEM = Problem(seed=4, accumulation_steps=4, epochs=((2,) * 10,), width=8)


TURNED_ROUND = "Your dictionary has the letters as values. They should be its keys, and the names its values."


class NameThatLoop(Exercise[None]):
    """``name_that_loop() -> dict[str, str]``: for each letter the slug of its mistake."""

    id = "name_that_loop"
    section = "Explore: the gallery"
    unit = UNIT
    parts = (Part("first", "A, B and C", 0.5), Part("second", "D, E and F", 0.5))

    def trials(self, seed: int, device: str) -> dict[str, None]:
        return {"answers": None}

    def judge(self, trials: Mapping[str, None], observations: Mapping[str, Observation]) -> Verdict:
        seen = observations["answers"]
        if seen.failure:
            return self.failed(seen.failure)
        if "answers" not in seen.facts:
            message = returned_instead(seen.facts["type"], "a dictionary")
            return self.verdict({part.name: message for part in self.parts})
        answers = {k.strip().upper(): re.sub(r"[\s_]", "-", v.strip().lower()) for k, v in seen.facts["answers"].items()}
        wrong = [letter for letter, slug in PUZZLE.items() if answers.get(letter) != slug]
        results = {}
        for part, letters in zip(self.parts, ("ABC", "DEF"), strict=True):
            missed = [letter for letter in letters if letter in wrong]
            results[part.name] = f"Look again at {listing(missed)}." if missed else ""
        absent = [letter for letter in PUZZLE if letter not in answers]
        unknown = [letter for letter in wrong if letter in answers and answers[letter] not in CANDIDATES]
        if answers and len(absent) == len(PUZZLE) and set(answers.values()) <= {letter.lower() for letter in PUZZLE}:
            return self.verdict(results, remark=TURNED_ROUND)
        remarks = (
            f"Your dictionary has no entry for {listing(absent)}." if absent else "",
            f"What you give for {listing(unknown)} is not one of the names in the list." if unknown else "",
            "You give several letters one name, but none is there twice." if _has_a_name_twice(answers) else "",
        )
        return self.verdict(results, remark=" ".join(filter(None, remarks)))


def _has_a_name_twice(answers: dict[str, str]) -> bool:
    names = [slug for letter, slug in answers.items() if letter in PUZZLE and slug in CANDIDATES]
    return len(set(names)) < len(names)


def _size(chance: random.Random, accumulation_steps: int) -> int:
    """Samples of an even micro-batch; not N, or a sum over samples divided by N would look like a sum of means.

    Nor is its square N, or the number of micro-batches in a leftover: a mean divided by its samples would look like a sum of
    samples divided by N.
    """
    n = accumulation_steps
    return chance.choice([size for size in (2, 3) if size != n and size**2 not in (n, n - 1)])


def _probing(single: Problem) -> Problem:
    """The problem with N = 1, with precise gradients that can be told apart and without momentum."""
    return single.with_(dtype=best_dtype(single.device), momentum=0.0)


def _diagnosed(
    exercise: Exercise,
    results: Mapping[str, str],
    found: Diagnosis,
    extra: Iterable[str],
    failure: Failure | None,
) -> Verdict:
    """The verdict on a loop with wrong updates: what its fingerprint says, and the ``extra`` mistakes found otherwise."""
    if "retained-graph" in found.slugs:
        extra = [slug for slug in extra if slug != "one-big-batch"]  # what is retained is in memory, of course
    slugs = tuple(dict.fromkeys((*found.slugs, *extra)))
    return exercise.verdict(
        results,
        mistakes=tuple(map(mistake, slugs)),
        failure=failure,
        expected=found.expected,
        found=found.found,
        remark=found.remark or found.beside,
    )
