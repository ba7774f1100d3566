"""What the sources say about running it, tried out. Each function is one row of the ledger."""

from __future__ import annotations

from collections.abc import Callable

import torch
from claim import Claim
from torch.nn import functional as F

from gradaccum.phenomena.memory_bar import SAMPLES, WIDTH, Stack, measure
from gradaccum.phenomena.missing_scale import Settings as ScaleSettings
from gradaccum.phenomena.missing_scale import compute as compare_updates
from gradaccum.phenomena.resume import PROBLEM, Settings, compute
from gradaccum.recording import LiveBytes

UNIT = "11_running_it"
KIB = 1024


def row_31() -> Claim:
    """Is there anything about memory that depends on whether N is a power of two?"""
    kept = {n: peak(16, n) for n in range(2, 17)}
    cut = {n: peak(SIX_WAYS // n, n) for n in (2, 3, 4, 6, 8, 12)}
    off = distance_from_line(cut)
    aligned = len(set(kept.values())) == 1 and off == 0
    verdict = "no effect" if aligned else "true"
    figure = (
        f"peak of live bytes with B = 16: {len(set(kept.values()))} value for N = 2 to 16, {kept[2]}; {SIX_WAYS} samples cut "
        f"into N = {', '.join(map(str, cut))}: {', '.join(map(str, cut.values()))} bytes, on one line in B up to {off:.0f}. "
        f"With room for 16 of 48 samples, N = 3 takes B = 16 and the next power of two B = {largest(48, 16, powers=True)}"
    )
    return Claim(31, "Powers of two for the accumulation steps align memory better", verdict, figure, UNIT)


def row_35() -> Claim:
    """Does a resumed run end where it should, if it was saved after an update, and if after any micro-batch?"""
    kills = range(1, PROBLEM.total)
    after_updates = [compute(Settings("update", kill)) for kill in kills]
    inside = [compute(Settings("micro-batch", kill)) for kill in kills if PROBLEM.is_open(kill)]
    same, other = [r for r in after_updates if r.identical], [r for r in inside if not r.identical]
    verdict = "true" if len(same) == len(after_updates) and len(other) > len(inside) / 2 else "false"
    off = sorted(float(result.distances[-1]) for result in other)
    figure = (
        f"killed after each of {len(kills)} micro-batches: saved after updates, {len(same)} of {len(after_updates)} runs end "
        f"the same to the last bit; saved in the middle of a window, {len(other)} of {len(inside)} do not, by up to "
        f"{off[-1]:.0%} of the distance gone (the window of the other {len(inside) - len(other)} overflowed and was skipped "
        "anyway)"
    )
    return Claim(35, "Checkpoint after updates, not after micro-batches", verdict, figure, UNIT)


def row_36() -> Claim:
    """Are fewer steps needed after another technique, and does a mistake show with two steps already?"""
    steps = {kept: steps_needed(BUDGET, kept) for kept in (False, True)}
    ratio = float(compare_updates(ScaleSettings(accumulation_steps=2)).ratios[0])
    helps, shows = steps[True] < steps[False], ratio > 1.5
    verdict = "sound advice" if helps and shows else "no help"
    figure = (
        f"{SAMPLES} samples per update within {BUDGET // KIB} KiB: N = {steps[False]}, and N = {steps[True]} after activation "
        f"checkpointing; a missing 1/N shows with N = 2 already, in updates {ratio:.1f} times too long"
    )
    return Claim(36, "Accumulate after other techniques, start small, and watch", verdict, figure, UNIT)


EXPERIMENTS: tuple[Callable[[], Claim], ...] = (row_31, row_35, row_36)

BUDGET = 460 * KIB
SIX_WAYS = 96


def peak(size: int, steps: int) -> int:
    """Most bytes alive in a window of ``steps`` micro-batches of ``size`` samples, weights and data aside."""
    torch.manual_seed(0)
    model, (x, y) = Stack(checkpointing=False), torch.randn(2, size, WIDTH)
    with LiveBytes() as live:
        for _ in range(steps):
            (F.mse_loss(model(x), y) / steps).backward()
    return live.peak


def distance_from_line(peaks: dict[int, int]) -> float:
    """How far the peaks of windows of the same samples, by N, are from one line in B at most: in bytes."""
    (first, one), (second, other), *_ = sorted((SIX_WAYS // n, bytes_) for n, bytes_ in peaks.items())
    slope = (other - one) / (second - first)
    return max(abs(one + slope * (SIX_WAYS // n - first) - bytes_) for n, bytes_ in peaks.items())


def largest(samples: int, room: int, powers: bool) -> int:
    """The largest micro-batch that fits and divides, with steps that may have to be a power of two."""
    allowed = [n for n in range(1, samples + 1) if samples % n == 0 and (not powers or n.bit_count() == 1)]
    return max(samples // n for n in allowed if samples // n <= room)


def steps_needed(budget: int, checkpointing: bool) -> int:
    """The fewest steps with which 512 samples fit, measured."""
    return next(n for n in (1, 2, 4, 8, 16, 32) if measure(n, "AdamW", checkpointing).total <= budget)
