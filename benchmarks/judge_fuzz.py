"""Judge forged observations: how many raise, how long the slowest takes, how much memory is needed at most.

    python benchmarks/judge_fuzz.py [--number 2000] [--seed 0] [--only KIND]

What a submission's process sends may be forged in any way. For each kind of exercise (what is observed in the same way) this
takes what sample submissions, right and wrong, really do, and changes it: dtypes, shapes, values, names, facts. Everything is
judged and shown as in marking. A fault of the marker is an error of ours: its traceback is printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import random
import resource
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT), str(ROOT / "tests" / "marker")]

import torch  # noqa: E402
from samples import ACCEPTED, SAMPLES, observe_once  # noqa: E402

from autograder.classroom.grading.marks_store import student_marks  # noqa: E402
from autograder.contract.exercise import Exercise  # noqa: E402
from autograder.contract.observation import Failure, Observation  # noqa: E402
from autograder.exercises import all_exercises, observers_of  # noqa: E402
from autograder.marking.in_process import admitted, judge_observations, trials_of  # noqa: E402
from autograder.marking.marker import Marks  # noqa: E402
from autograder.showing.verdict_html import as_html  # noqa: E402

MAX_BASES = 6
"""Sample submissions of an exercise whose observations are changed: a right one and wrong ones."""

NUMBERS = (
    0,
    -1,
    1,
    2,
    0.0,
    -0.0,
    0.5,
    1e-320,
    1e-6,
    1e30,
    1e155,
    -1e308,
    float("nan"),
    float("inf"),
    -float("inf"),
    2**53,
    2**63 - 1,
)
"""Numbers that fit wherever a number does, more or less."""

JUNK = (
    None,
    True,
    False,
    "",
    "x",
    "\ud800",
    "\x00\x1b[31m",
    "y" * 500,
    "z" * 100_000,
    [],
    {},
    [[]],
    [None],
    {"a": 1},
    10**30,
    10**400,
)
"""What does not fit in most places."""

FILLS = (0.0, 1.0, -1.0, 1e-320, 1e-30, 1e20, 1e155, 1e300, -1.7e308, float("nan"), float("inf"), -float("inf"))
DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool)

Observations = dict[str, Observation]


@dataclass
class Found:
    """What judging forged observations of a kind took.

    Attributes:
        judged: how many there were.
        admitted: how many of these fitted their schemas throughout.
        faults: tracebacks, and how often each was raised.
        seconds: of CPU, for the slowest one.
        megabytes: by which the process grew.
    """

    judged: int = 0
    admitted: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    slowest: str = ""
    megabytes: float = 0.0


def kinds() -> dict[str, list[Exercise]]:
    """The exercises by how they are observed."""
    found: dict[str, list[Exercise]] = defaultdict(list)
    for exercise in all_exercises().values():
        found[observers_of(exercise.unit)[exercise.id].__name__.removeprefix("observe_")].append(exercise)
    return dict(found)


def bases(exercise: Exercise, most: int = MAX_BASES) -> list[Observations]:
    """What some sample submissions do."""
    samples = sorted((s for s in SAMPLES if s.exercise == exercise.id), key=lambda s: s.kind != ACCEPTED)
    right, wrong = samples[:1], [sample for sample in samples if sample.kind != ACCEPTED]
    chosen = right + random.Random(exercise.id).sample(wrong, min(most - 1, len(wrong)))
    return [observe_once(one) for one in chosen]


def forged(chance: random.Random, base: Observations) -> Observations:
    """Observations with one to four changes."""
    seen = {name: Observation(dict(o.tensors), copy.deepcopy(o.facts), o.failure) for name, o in base.items()}
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        name = chance.choice(list(seen))
        change = chance.choice(CHANGES)
        names = list(seen) if chance.random() < 0.25 else [name]
        state = chance.getrandbits(64)
        for one in names:
            with contextlib.suppress(RuntimeError, IndexError, TypeError, OverflowError):  # an earlier change may forbid it
                seen[one] = change(random.Random(state), seen[one], seen)
    return seen


def _change_values(chance: random.Random, seen: Observation, _: Observations) -> Observation:
    """Other numbers in one tensor, or in all."""
    every = chance.random() < 0.3
    names = list(seen.tensors) if every else chance.sample(list(seen.tensors), min(1, len(seen.tensors)))
    fill, how, places = chance.choice(FILLS), chance.randrange(6), chance.getrandbits(30)
    tensors = dict(seen.tensors)
    for name in names:
        tensor = tensors[name]
        flat = tensor.double().reshape(-1).clone()
        if len(flat):
            if how == 0:
                flat.fill_(fill)
            elif how == 1:
                flat[places % len(flat)] = fill
            elif how == 2:
                flat.mul_(1 + 1e-3)
            elif how == 3:
                flat.mul_(fill)
            elif how == 4:
                flat = flat.roll(1)
            else:
                flat = flat[torch.randperm(len(flat), generator=torch.Generator().manual_seed(places))]
            tensors[name] = flat.reshape(tensor.shape).to(tensor.dtype)
    return Observation(tensors, seen.facts, seen.failure)


def _change_rows(chance: random.Random, seen: Observation, _: Observations) -> Observation:
    """Fewer or more updates, the same number everywhere."""
    rows = next((len(t) for name, t in seen.tensors.items() if name.startswith("gradients") and t.dim()), 0)
    places = [chance.randrange(rows) for _ in range(chance.choice((0, 1, 2, rows, 3 * rows, 400)))] if rows else []

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: moved(item) for key, item in value.items()}
        if isinstance(value, list) and len(value) == rows and all(isinstance(item, int) for item in value):
            return [value[k] for k in places]
        return [moved(item) for item in value] if isinstance(value, list) else value

    moving = ("gradients", "movements", "rows")
    tensors = {name: t[places] if name.startswith(moving) and len(t) == rows else t for name, t in seen.tensors.items()}
    return Observation(tensors, moved(seen.facts), seen.failure)


def _change_shape(chance: random.Random, seen: Observation, _: Observations) -> Observation:
    if not seen.tensors:
        return seen
    name = chance.choice(list(seen.tensors))
    tensor = seen.tensors[name]
    shapes: list[Callable[[], torch.Tensor]] = [
        lambda: tensor.reshape(-1),
        lambda: tensor[None],
        lambda: tensor.T if tensor.dim() == 2 else tensor[..., None],
        lambda: tensor[:0],
        lambda: tensor.new_zeros((0, 10**6)),
        lambda: tensor.new_zeros(()),
        lambda: tensor.new_zeros((1,) * 12),
        lambda: tensor.new_zeros((300, 300)),
        lambda: tensor.new_zeros((chance.randrange(1, 5000),)),
        lambda: torch.cat([tensor, tensor]) if tensor.dim() else tensor,
    ]
    return Observation(seen.tensors | {name: chance.choice(shapes)()}, seen.facts, seen.failure)


def _change_dtype(chance: random.Random, seen: Observation, _: Observations) -> Observation:
    dtype, every = chance.choice(DTYPES), chance.random() < 0.5
    chosen = chance.choice(list(seen.tensors)) if seen.tensors else ""
    tensors = {name: tensor.to(dtype) if every or name == chosen else tensor for name, tensor in seen.tensors.items()}
    return Observation(tensors, seen.facts, seen.failure)


def _change_names(chance: random.Random, seen: Observation, _: Observations) -> Observation:
    tensors, facts = dict(seen.tensors), dict(seen.facts)
    which: dict[str, Any] = tensors if tensors and chance.random() < 0.5 else facts
    if which and chance.random() < 0.7:
        value = which.pop(chance.choice(list(which)))
        if chance.random() < 0.3:
            which[chance.choice(("", "returned/x", "state/" + "n" * 5000, "gradients", "é\ud800"))] = value
    else:
        tensors[chance.choice(("surplus", "returned/surplus", "state/0.weight", "grad/"))] = torch.zeros(3)
    return Observation(tensors, facts, seen.failure)


def _change_fact(chance: random.Random, seen: Observation, _: Observations) -> Observation:
    """Another value somewhere among the facts: mostly of a kind that fits."""
    facts = copy.deepcopy(seen.facts)
    places = list(_places(facts))
    if places:
        holder, key = chance.choice(places)
        old = holder[key]
        if isinstance(old, bool) and chance.random() < 0.7:
            new: Any = not old
        elif isinstance(old, int | float) and chance.random() < 0.8:
            new = chance.choice((*NUMBERS, old + 1, old * (1 + 1e-4), -old))
        elif isinstance(old, list) and chance.random() < 0.7:
            new = chance.choice((old[::-1], old[1:], old * 2, old[:1] * len(old), [chance.choice(NUMBERS) for _ in old]))
        else:
            new = chance.choice((*JUNK, *NUMBERS))
        holder[key] = new
    return Observation(seen.tensors, facts, seen.failure)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _fail(chance: random.Random, seen: Observation, _: Observations) -> Observation:
    failure = Failure(chance.choice(("missing", "unwritten", "raised", "time", "died")), "It did not work.")
    return Observation({}, seen.facts if chance.random() < 0.5 else {}, failure)


def _empty(chance: random.Random, seen: Observation, _: Observations) -> Observation:
    return Observation()


def _exchange(chance: random.Random, seen: Observation, every: Observations) -> Observation:
    return chance.choice(list(every.values()))


CHANGES = (
    (_change_values,) * 4
    + (_change_rows,) * 2
    + (_change_fact,) * 4
    + (_change_shape, _change_dtype, _change_names)
    + (
        _fail,
        _empty,
        _exchange,
    )
)


def judge(exercise: Exercise, trials: Mapping[str, Any], seen: Observations) -> str:
    """Judge and show, as marking does; return the traceback of a fault, or an empty string."""
    verdict = judge_observations(exercise, trials, seen)
    if verdict.fault:
        return verdict.fault.traceback
    try:
        str(verdict), as_html(verdict)
        marks = Marks("file.ipynb", exercise.unit, "cpu", (verdict,))
        marks.as_json(), student_marks("student", "key", 0.0, marks).as_json()
    except Exception:
        return traceback.format_exc()
    return ""


def fuzz(kind: str, number: int, seed: int) -> Found:
    """Judge so many forged observations of a kind."""
    found, exercises = Found(), kinds()[kind]
    known = {exercise.id: bases(exercise) for exercise in exercises}
    for exercise in exercises:  # so that references are there, which every verdict needs and a class computes once
        for base in known[exercise.id]:
            judge(exercise, trials_of(exercise, 0), base)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for k in range(number):
        exercise, chance = exercises[k % len(exercises)], random.Random(f"{kind}/{seed}/{k}")
        trials = trials_of(exercise, 0)
        seen = forged(chance, chance.choice(known[exercise.id]))
        began = time.process_time()
        problem = judge(exercise, trials, seen)
        took = time.process_time() - began
        if took > found.seconds:
            found.seconds, found.slowest = took, f"{exercise.id} {k}"
        found.judged += 1
        both = ((seen[name], one) for name, one in admitted(exercise, trials, seen).items())
        found.admitted += all(given is one for given, one in both)
        if problem:
            found.faults[problem] += 1
    found.megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=2000, help="forged observations of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="kinds, separated by commas")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",") if arguments.only else list(kinds())
    print(f"{'kind':<16}{'exercises':>10}{'forged':>9}{'fitting':>9}{'faults':>8}{'slowest, CPU s':>16}{'grown by, MB':>14}")
    faults: Counter[str] = Counter()
    torch.set_num_threads(1)
    for kind in wanted:  # each in a process of its own, whose growth shows what it needed
        with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
            found = pool.submit(fuzz, kind, arguments.number, arguments.seed).result()
        faults += found.faults
        print(
            f"{kind:<16}{len(kinds()[kind]):>10}{found.judged:>9}{found.admitted:>9}{found.faults.total():>8}"
            f"{found.seconds:>16.2f}{found.megabytes:>14.0f}   {found.slowest}",
            flush=True,
        )
        for problem, count in found.faults.most_common():
            print(f"\n{count} times:\n{problem}", flush=True)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
