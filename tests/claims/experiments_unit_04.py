"""What the sources say about training loops, tried out. Each function is one row of the ledger."""

from __future__ import annotations

from collections.abc import Callable

from claim import Claim

from gradaccum.fingerprint import Fingerprint, expected, fingerprint
from gradaccum.loops import GALLERY
from gradaccum.problems import Problem
from gradaccum.recording import record

UNIT = "04_training_loop"
STEPS = 4
PROBLEM = Problem(seed=4, accumulation_steps=STEPS, epochs=((2,) * (2 * STEPS),), width=8)


def row_5() -> Claim:
    """What is left in an update if gradients are cleared inside the window?"""
    kept = micro_batches_per_update("zero-every")
    verdict = "true" if kept == [[STEPS], [2 * STEPS]] else "false"
    figure = f"N = {STEPS}, cleared before every backward: the updates hold micro-batches {_listed(kept)} and no other"
    return Claim(5, "zero_grad in every round of the loop breaks accumulation", verdict, figure, UNIT)


def row_6() -> Claim:
    """Does an update after every micro-batch leave anything of the window?"""
    kept = micro_batches_per_update("step-every")
    verdict = "true" if all(len(row) == 1 for row in kept) and len(kept) == 2 * STEPS else "false"
    figure = (
        f"N = {STEPS}: {len(kept)} updates instead of {len(expected(PROBLEM).coefficients)}, each of one micro-batch; they end "
        f"off by {distance_of_runs('step-every'):.0%} of the distance that the large batches go"
    )
    return Claim(6, "Stepping after every batch defeats accumulation", verdict, figure, UNIT)


def row_7() -> Claim:
    """Do loops that step and clear once per window train like large batches as they are printed, without a 1/N?"""
    lengths = row_sums("printed")
    off, smaller_rate = distance_of_runs("printed"), distance_of_runs("printed", rate=PROBLEM.lr / STEPS)
    verdict = "false" if off > 0.01 and min(lengths) > STEPS - 0.01 else "true"
    figure = (
        f"N = {STEPS}: every row of the fingerprint adds up to {max(lengths):.0f} instead of 1, the run ends off by "
        f"{off:.0%} of the distance gone, with the rate over N by {smaller_rate:.0e}"
    )
    return Claim(7, "Loops mended by moving step and zero_grad alone, as printed, are right", verdict, figure, UNIT)


def row_37() -> Claim:
    """Do parameters stay where they are until N micro-batches are through?"""
    events = [event.kind for event in record(GALLERY["right"], PROBLEM, frozen=False).events]
    before = backwards_before_each_update("right")
    verdict = "true" if before == [STEPS] * 2 and events.count("step") == 2 else "false"
    figure = f"N = {STEPS}: {_listed([before])} backward passes before the first and the second update, none without"
    return Claim(37, "Nothing is updated until N batches are done", verdict, figure, UNIT)


EXPERIMENTS: tuple[Callable[[], Claim], ...] = (row_5, row_6, row_7, row_37)


def printed(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """In the style of a published correction: both calls are in the right place, and nothing divides."""
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss_fn(model(x), y).backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()


def loop_called(name: str) -> Callable:
    return printed if name == "printed" else GALLERY[name]


def print_of(name: str) -> Fingerprint:
    return fingerprint(loop_called(name), PROBLEM)


def micro_batches_per_update(name: str) -> list[list[int]]:
    """For each update the numbers of the micro-batches in it, from 1."""
    rows = print_of(name).coefficients.abs() > 1e-6
    return [(row.nonzero().flatten() + 1).tolist() for row in rows]


def row_sums(name: str) -> list[float]:
    return print_of(name).coefficients.sum(1).tolist()


def distance_of_runs(name: str, rate: float = PROBLEM.lr) -> float:
    """How far a loop ends from one large batch per window, over the distance the latter goes."""
    large = PROBLEM.with_(accumulation_steps=1, epochs=((2 * STEPS,) * 2,))
    due = record(GALLERY["right"], large, frozen=False)
    end = record(loop_called(name), PROBLEM.with_(lr=rate), frozen=False)
    return float((end.parameters[-1] - due.parameters[-1]).norm() / due.movements.sum(0).norm())


def backwards_before_each_update(name: str) -> list[int]:
    counts, count = [], 0
    for event in record(loop_called(name), PROBLEM, frozen=False).events:
        count += event.kind == "backward"
        if event.kind == "step":
            counts.append(count)
            count = 0
    return counts


def _listed(rows: list[list[int]]) -> str:
    return " and ".join(str(number) for row in rows for number in row)
