"""Mark thousands of slightly wrong functions: which of them get full marks?

    python benchmarks/mutants.py [UNIT …] [--per-sample K] [--seeds N] [--again] [--exercise ID]

Mutants are made of every reference solution, all of them, and of every second model answer and accepted sample, K of each
(``mutating.py``). One that gets full marks is a *survivor*: either a trial is missing, or the mutant is right, and then the
unit's ``survivors.toml`` says why. Exits with status 1 if there is a survivor without an explanation, or if points depend on
the seed.

What was marked is written to ``build/mutants.jsonl`` at once, so an interrupted run continues. It starts over when the marker
changes; with ``--again`` it then marks the survivors only, which is enough while trials are being added.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import Any

import torch
from mutating import REFERENCE, ROOT, Mutant, chosen, mutants_of, sources_of
from survivors import Explanation, explanations_of, matches
from tqdm import tqdm

from autograder.contract.observation import Failure
from autograder.contract.units import UNITS
from autograder.exercises import all_exercises
from autograder.isolation.fork_server_client import ForkServer
from autograder.isolation.limits import Limits
from autograder.isolation.sandbox import NONE
from autograder.isolation.supervisor import observe_in_fork
from autograder.marking.in_process import judge_observations, trials_of
from autograder.support.edition import edition

RESULTS = ROOT / "build" / "mutants.jsonl"
PER_SAMPLE = 15
"""Mutants of each sample that are marked."""

LIMITS = Limits(statement=5.0, load=10.0, trial=1.5, whole=40.0, memory=2 * 2**30)
"""Right functions need a tenth of this; most mutants that need more never end."""

Result = dict[str, Any]


def mark(mutant: Mutant, seed: int) -> Result:
    """The points of a mutant and the mistakes named, marked in a process of its own."""
    exercise = all_exercises()[mutant.source.exercise]
    trials = _trials(exercise.id, seed)
    begun = time.perf_counter()
    found = observe_in_fork(_fork_server(), mutant.cells, exercise.unit, {exercise.id: trials}, "cpu", LIMITS, ROOT)
    observed = found.observed[exercise.id]
    verdict = exercise.failed(observed) if isinstance(observed, Failure) else judge_observations(exercise, trials, observed)
    return {
        "digest": mutant.digest,
        "seed": seed,
        "points": verdict.score,
        "passed": verdict.passed,
        "mistakes": [mistake.slug for mistake in verdict.mistakes],
        "failure": verdict.failure.kind if verdict.failure else None,
        "seconds": round(time.perf_counter() - begun, 3),
    }


@cache
def _fork_server() -> ForkServer:
    torch.set_num_threads(1)
    return ForkServer(NONE, "cpu", many=True)


@cache
def _trials(exercise_id: str, seed: int) -> Any:
    return trials_of(all_exercises()[exercise_id], seed)


def selected(units: Iterable[str], per_sample: int | None, exercise: str | None) -> list[Mutant]:
    """All mutants of the units' references and some of each sample."""
    sources = [source for unit in units for source in sources_of(unit) if exercise in (None, source.exercise)]
    return [
        mutant
        for source in tqdm(sources, "mutating", leave=False, disable=None)
        for mutant in chosen(mutants_of(source), None if source.name == REFERENCE else per_sample)
    ]


class Results:
    """What was marked so far, in a file that every result is added to."""

    def __init__(self, path: Path, keep_killed: bool):
        path.parent.mkdir(exist_ok=True)
        self._path, self._known = path, dict(self._read(path, keep_killed))
        rows = [json.dumps({"edition": edition()}), *map(json.dumps, self._known.values())]
        path.write_text("\n".join(rows) + "\n")

    @staticmethod
    def _read(path: Path, keep_killed: bool) -> Iterator[tuple[tuple[str, int], Result]]:
        rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        same = bool(rows) and rows[0]["edition"] == edition()
        for row in rows[1:]:
            if same or (keep_killed and not row["passed"]):
                yield (row["digest"], row["seed"]), row

    def get(self, mutant: Mutant, seed: int) -> Result | None:
        return self._known.get((mutant.digest, seed))

    def add(self, result: Result) -> None:
        self._known[result["digest"], result["seed"]] = result
        with self._path.open("a") as file:
            file.write(json.dumps(result) + "\n")


def mark_all(wanted: list[tuple[Mutant, int]], results: Results, processes: int) -> None:
    """Mark what has not been marked yet, and show how far it is."""
    missing = [(mutant, seed) for mutant, seed in wanted if results.get(mutant, seed) is None]
    with ProcessPoolExecutor(processes) as pool:
        running = {pool.submit(mark, mutant, seed) for mutant, seed in missing}
        try:
            for future in tqdm(as_completed(running), "marking", len(running), disable=None):
                results.add(future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def main() -> int:
    parser = argparse.ArgumentParser(description="Mark mutants of right functions; list those that get full marks.")
    parser.add_argument("units", nargs="*", default=[], metavar="UNIT", help="such as 04; all if none is given")
    parser.add_argument("--exercise", help="mutants of this exercise only")
    parser.add_argument(
        "--per-sample", type=int, default=PER_SAMPLE, help="mutants of each sample (default: %(default)s; 0: all)"
    )
    parser.add_argument("--seeds", type=int, default=1, help="mark each mutant at so many seeds (default: 1)")
    parser.add_argument("--again", action="store_true", help="after a change of the marker, mark survivors only")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    units = [unit for unit in UNITS if not options.units or unit[:2] in {name[:2] for name in options.units}]
    mutants = selected(units, options.per_sample or None, options.exercise)
    results = Results(options.results, keep_killed=options.again)
    mark_all([(mutant, seed) for mutant in mutants for seed in range(options.seeds)], results, options.processes)
    return report(units, mutants, results, options.seeds, whole=not (options.exercise or 0 < options.per_sample < PER_SAMPLE))


def report(units: list[str], mutants: list[Mutant], results: Results, seeds: int, whole: bool) -> int:
    """Print the survivors and a table; return the exit status. If ``whole``, no explanation may be without a mutant."""
    explanations: list[Explanation] = [one for unit in units for one in explanations_of(unit)]
    rows: dict[str, Counter[str]] = {unit: Counter() for unit in units}
    open_ones, by_seed = [], []
    for mutant in mutants:
        marked = [result for seed in range(seeds) if (result := results.get(mutant, seed)) is not None]
        row = rows[mutant.source.unit]
        row["mutants"] += 1
        if len({result["points"] for result in marked}) > 1:
            by_seed.append((mutant, [result["points"] for result in marked]))
        if not any(result["passed"] for result in marked):
            row["killed"] += 1
            row["named"] += any(result["mistakes"] for result in marked)
        elif any(one.explains(mutant.key) for one in explanations):
            row["explained"] += 1
        else:
            row["unexplained"] += 1
            open_ones.append(mutant)
    for mutant in open_ones:
        print(mutant.key)
    keys = [mutant.key for mutant in mutants]
    idle = [pattern for one in explanations for pattern in one.mutants if not any(matches(key, pattern) for key in keys)]
    if whole:
        for pattern in idle:
            print(f"explains no mutant that was marked: {pattern}")
    for mutant, points in by_seed:
        print(f"points depend on the seed, {points}: {mutant.key}")
    columns = ("mutants", "killed", "named", "explained", "unexplained")
    print(f"\n{'unit':<36}" + "".join(f"{column:>13}" for column in columns))
    for unit, row in [*rows.items(), ("all", sum(rows.values(), Counter()))]:
        print(f"{unit:<36}" + "".join(f"{row[column]:>13}" for column in columns))
    return 1 if open_ones or by_seed or (whole and idle) else 0


if __name__ == "__main__":
    sys.exit(main())
