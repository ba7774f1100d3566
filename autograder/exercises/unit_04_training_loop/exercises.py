"""Unit 04, training loop: where do step and zero_grad go?"""

from __future__ import annotations

import random

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import probe_length, trial_random, uneven_sizes
from autograder.contract.verdict import Part, Verdict
from autograder.diagnosing.loops import diagnose, read_observation
from autograder.judging.loops import (
    holds_several_graphs,
    is_cut_finely,
    is_one_forward,
    moves_like_large_batches,
    window_gradient,
)
from autograder.judging.reported_losses import loss_mistakes, same_numbers, window_losses
from autograder.observing.loops import LoopTrial
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.problems import Problem, best_dtype

UNIT = "04_training_loop"

SEVERAL_GRAPHS = "The graphs of several micro-batches are in memory at once."
WRONG_MOVES = "The parameters after training are not those of one large batch per window."
JOINED = "Samples of several micro-batches go through the model together."


class TrainEpoch(Exercise):
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

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        n = chance.choice([3, 4, 5])
        size, left = _size(chance, n), chance.randint(2, n - 1)
        uneven = [uneven_sizes(chance, [1, 2, 3, 4, 5], n) for _ in range(3)]
        basics = {"accumulation_steps": n, "device": device, "dtype": best_dtype(device), "width": 8}

        def problem(offset, *epochs, **options):
            return Problem(seed=seed + offset, epochs=tuple(map(tuple, epochs)), **basics | options)

        # In this order windows of any width from N - 1 to N + 1 leave something over that a later update shows.
        every_kind = ([*uneven[0], *uneven[1][:left]], [size] * probe_length(2, n, left), [size] * (n - 1))
        return {
            "full": LoopTrial(problem(2, [size] * (2 * n), [size] * n, gated=True)),
            "memory": LoopTrial(problem(3, [16] * 24, accumulation_steps=24, width=2, depth=12, coupled=True), meter=True),
            "leftover": LoopTrial(problem(4, [size] * (n + left), [size] * (n - 1))),
            "ragged": LoopTrial(problem(5, uneven[0] + uneven[2], extras=True)),
            "stream": LoopTrial(problem(6, [size] * (4 * n), one_shot=True)),
            "clean": LoopTrial(problem(7, [size] * (n + left), [size] * n, stale=True), frozen=True),
            "losses": LoopTrial(problem(8, [*uneven[1], *uneven[2][:left]], [size] * n), frozen=True),
            "probe": LoopTrial(problem(1, *every_kind, stale=True, gated=True), frozen=True),
        }

    def judge(self, trials, observations):
        results, extra = {}, []
        for name in ("full", "leftover", "ragged", "stream"):
            results[name] = _movement_message(trials[name], observations[name])
        results["full"] = results["full"] or _mode_message(observations["full"])
        results["clean"] = _clean_message(trials["clean"], observations["clean"])
        results["losses"] = _losses_message(trials["losses"], observations["losses"], extra)
        wrong_moves = any(results[name] for name in ("full", "leftover", "ragged", "stream", "clean"))
        if holds_several_graphs(trials["memory"], observations["memory"]):
            results["full"] = results["full"] or SEVERAL_GRAPHS
            extra.append("one-big-batch")
        elif observations["memory"].failure:
            results["full"] = results["full"] or observations["memory"].failure.message
        elif not results["full"]:
            gradient = window_gradient(trials["memory"].problem, observations["memory"])
            if is_one_forward(trials["memory"].problem, gradient):
                results["full"] = JOINED
                extra.append("one-big-batch")
            elif not is_cut_finely(trials["memory"].problem, gradient):
                results["full"] = WRONG_MOVES
        if not observations["stream"].failure and _prefetched(trials["stream"], observations["stream"]):
            results["stream"] = results["stream"] or "The whole stream was fetched before the first update."
            extra.append("epoch-prefetched")
        failure = next((o.failure for o in observations.values() if o.failure), None)
        if not wrong_moves:
            return self.verdict(results, mistakes=tuple(map(mistake, extra)), failure=failure)
        return _diagnosed(self, results, trials["probe"], observations["probe"], extra, failure)


class Repair(Exercise):
    """A given wrong loop, to be mended; all or nothing."""

    unit = UNIT
    parts = (Part("repaired", "a loop that trains like large batches", 1),)
    leftover = False

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        n = chance.choice([3, 4, 5])
        size, left = _size(chance, n), chance.randint(2, n - 1) if self.leftover else 0
        basics = {"accumulation_steps": n, "device": device, "dtype": best_dtype(device), "width": 8}
        epochs = ((size,) * (2 * n + left), (size,) * (n + left))
        return {
            "training": LoopTrial(Problem(seed + 1, epochs=epochs, **basics)),
            "probe": LoopTrial(Problem(seed + 2, epochs=epochs, **basics), frozen=True),
        }

    def judge(self, trials, observations):
        seen = observations["training"]
        results = {"repaired": _movement_message(trials["training"], seen) or _mode_message(seen)}
        if not results["repaired"]:
            return self.verdict(results)
        failure = observations["training"].failure
        return _diagnosed(self, results, trials["probe"], observations["probe"], (), failure)


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


PUZZLE = {
    "A": "never-zero",
    "B": "off-by-one-early",
    "C": "no-scale",
    "D": "retained-graph",
    "E": "zero-every",
    "F": "tail-dropped",
}
"""The loop behind each letter of the puzzle."""

PUZZLE_PROBLEM = Problem(seed=4, accumulation_steps=4, epochs=((2,) * 10,), width=8)


class NameThatLoop(Exercise):
    """``name_that_loop() -> dict[str, str]``: for each letter the slug of its mistake."""

    id = "name_that_loop"
    section = "Explore: the gallery"
    unit = UNIT
    parts = (Part("first", "A, B and C", 0.5), Part("second", "D, E and F", 0.5))

    def trials(self, seed, device):
        return {"answers": None}

    def judge(self, trials, observations):
        seen = observations["answers"]
        if seen.failure:
            return self.failed(seen.failure)
        if "answers" not in seen.facts:
            message = f"Your function returned {seen.facts['type']} where a dictionary was due."
            return self.verdict({part.name: message for part in self.parts})
        answers = {k.strip().upper(): v.strip().lower().replace("_", "-") for k, v in seen.facts["answers"].items()}
        wrong = [letter for letter, slug in PUZZLE.items() if answers.get(letter) != slug]
        results = {}
        for part, letters in zip(self.parts, ("ABC", "DEF"), strict=True):
            missed = [letter for letter in letters if letter in wrong]
            results[part.name] = f"Look again at {' and '.join(missed)}." if missed else ""
        return self.verdict(results)


def _size(chance: random.Random, accumulation_steps: int) -> int:
    """Samples of an even micro-batch; not N, or a sum over samples divided by N would look like a sum of means."""
    return chance.choice([size for size in (2, 3) if size != accumulation_steps])


def _movement_message(trial: LoopTrial, seen: Observation) -> str:
    if seen.failure:
        return seen.failure.message
    right = moves_like_large_batches(trial, seen)
    return "" if right else WRONG_MOVES


def _mode_message(seen: Observation) -> str:
    return "" if seen.facts["training_after"] else "Your function left the model in evaluation mode."


def _clean_message(trial: LoopTrial, seen: Observation) -> str:
    """Rows of one epoch may hold that epoch's micro-batches only, and nothing of what was in ``.grad`` before."""
    if seen.failure:
        return seen.failure.message
    found = read_observation(trial, seen)
    if bool((found.stale.abs() > 1e-4).any()):
        return "What .grad held before the call is part of an update."
    for row, epoch in zip(found.coefficients, found.row_epochs, strict=True):
        own = [e == epoch for e, _ in found.columns]
        if any(abs(value) > 1e-4 for value, mine in zip(row.tolist(), own, strict=True) if not mine):
            return "A gradient of one epoch is part of an update of the next."
    epochs_with_updates = {e for row, e in zip(found.coefficients, found.row_epochs, strict=True) if bool(row.any())}
    if len(epochs_with_updates) < len(trial.problem.epochs):
        return "There is an epoch without an update that moves the parameters."
    return ""


def _losses_message(trial: LoopTrial, seen: Observation, extra: list[str]) -> str:
    if seen.failure:
        return seen.failure.message
    returned = seen.facts["losses"]
    if any(row is None for row in returned):
        return "Return a list with one number for each window."
    due = window_losses(trial.problem)
    if same_numbers(returned, due):
        return ""
    extra.extend(loss_mistakes(trial.problem, returned))
    for found, wanted in zip(returned, due, strict=True):
        if len(found) != len(wanted):
            return f"Of an epoch of {len(wanted)} windows your function returned {len(found)} losses."
    return "The numbers returned are not the mean losses of the windows over their samples."


def _prefetched(trial: LoopTrial, seen: Observation) -> bool:
    """Whether more than the next window had been fetched at some update; a stream may be longer than memory.

    A loop with fewer updates than windows has to fetch more for each, so what counts are the updates that were still to come.
    """
    n, fetched = trial.problem.accumulation_steps, seen.facts["fetched"]
    return any(taken > (u + 2) * n and len(fetched) - u > 2 for u, taken in enumerate(fetched))


def _diagnosed(exercise: Exercise, results, probe: LoopTrial, seen: Observation, extra, failure) -> Verdict:
    found = diagnose(probe, seen)
    if "retained-graph" in found.slugs:
        extra = [slug for slug in extra if slug != "one-big-batch"]  # what is retained is in memory, of course
    slugs = tuple(dict.fromkeys((*found.slugs, *extra)))
    return exercise.verdict(
        results,
        mistakes=tuple(map(mistake, slugs)),
        failure=failure,
        expected=found.expected,
        found=found.found,
        remark=found.remark,
    )
