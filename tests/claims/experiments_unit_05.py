"""What the sources say about learning rates and effective batches, tried out. Each function is one row of the ledger."""

from __future__ import annotations

from collections.abc import Callable

import torch
from claim import Claim
from torch import Tensor

from autograder.exercises.unit_05_learning_rate.exercises import PUBLISHED
from gradaccum.fingerprint import batch_gradient
from gradaccum.loops import right, windows
from gradaccum.loops.schedules import schedule_per_micro_batch, scheduled
from gradaccum.phenomena.gradient_noise import finite_factor, sample_gradients, scatter
from gradaccum.phenomena.learning_rate_scaling import MICRO_BATCH, RATES, STEPS, Settings, compute, train
from gradaccum.problems import Problem, flat_parameters, trainable
from gradaccum.recording import record

UNIT = "05_learning_rate"
WARMUP = 8


def row_12() -> Claim:
    """Does accumulation need another rate? At the same effective batch, and at a larger one."""
    same = difference_at_equal_effective_batch()
    small, large = best_rate(MICRO_BATCH), best_rate(16 * MICRO_BATCH)
    verdict = "both" if same < 1e-12 and large > 2 * small else "need not" if same < 1e-12 else "must"
    figure = (
        f"B × N = 32 cut in four ways and trained with the same rate: parameters differ by {same:.0e}, so no change. Effective "
        f"batch 16 times as large: of the rates tried, {small:g} was best before and {large:g} after, so retune"
    )
    return Claim(12, "The learning rate must be adjusted when accumulating; it need not be", verdict, figure, UNIT)


def row_13() -> Claim:
    """Does a rate times N make a batch N times as large train alike?"""
    sgd, adam, far = factors("SGD", 16), factors("Adam", 16), factors("SGD", 64)
    fine = sgd["linear"] < 1.5 < sgd["none"]
    limited = far["linear"] > 20
    for_adam = adam["sqrt"] < adam["linear"]
    verdict = "heuristic" if fine and limited and for_adam else "true" if fine and not limited else "false"
    figure = (
        f"factor by which the loss is off that of the small batch, rate × N, × √N, unchanged: SGD at N = 16 "
        f"{in_words(sgd)}, at N = 64 {in_words(far)}; Adam at N = 16 {in_words(adam)}. On top of a missing 1/N at N = 4 an "
        f"update is {length_on_top_of_missing_scale():.0f} times as long"
    )
    return Claim(13, "Linear scaling rule: N times the batch, N times the rate", verdict, figure, UNIT)


def row_14() -> Claim:
    """Does the variance of a gradient fall as one over the effective batch?"""
    with_, without = variance_ratios(replace=True), variance_ratios(replace=False)
    independent = all(abs(ratio - 1) < 0.1 for ratio in with_.values())
    smaller = all(abs(ratio - finite_factor(size, 256)) < 0.1 for size, ratio in without.items())
    verdict = "true of independent samples" if independent and smaller and without[128] < 0.6 else "false"
    figure = (
        f"variance times batch over that of one sample, batches of {', '.join(map(str, with_))} out of 256: "
        f"{', '.join(f'{ratio:.2f}' for ratio in with_.values())} with replacement, "
        f"{', '.join(f'{ratio:.2f}' for ratio in without.values())} without, where (n − B)/(n − 1) is "
        f"{', '.join(f'{finite_factor(size, 256):.2f}' for size in without)}"
    )
    return Claim(14, "The variance of the gradient is proportional to 1 / effective batch", verdict, figure, UNIT)


def row_15() -> Claim:
    """Must a schedule count updates to train as the large batch does?"""
    by_updates, by_micro_batches = distance_to_large_batch(scheduled), distance_to_large_batch(schedule_per_micro_batch)
    verdict = "true" if by_updates < 1e-12 < by_micro_batches else "false"
    figure = (
        f"warmup of {WARMUP} steps, N = 4: distance to training with large batches {by_updates:.0e} if the schedule counts "
        f"updates, {by_micro_batches:.0%} if it counts micro-batches; its warmup then ends at update "
        f"{updates_of_warmup(schedule_per_micro_batch)} instead of {updates_of_warmup(scheduled)}"
    )
    return Claim(15, "Schedules and warmup count updates, not micro-batches", verdict, figure, UNIT)


def row_26() -> Claim:
    """Is the effective batch the product, in the published table and in a gradient?"""
    right_rows = sum(b * n * w == size for (b, n, w), size in PUBLISHED)
    off = difference_to_one_batch(micro_batch_size=2, accumulation_steps=4, world_size=3)
    verdict = "true" if right_rows == len(PUBLISHED) and off < 1e-12 else "false"
    figure = (
        f"{right_rows} of {len(PUBLISHED)} published rows are the product; the mean over 3 ranks of 4 accumulated "
        f"micro-batches of 2 is the gradient of one batch of 24, up to {off:.0e}"
    )
    return Claim(26, "Effective batch = micro-batch × accumulation steps × devices", verdict, figure, UNIT)


EXPERIMENTS: tuple[Callable[[], Claim], ...] = (row_12, row_13, row_14, row_15, row_26)


def difference_at_equal_effective_batch() -> float:
    """How far parameters end from those of uncut batches of 32, at most, over three ways to cut them; relative."""
    ends = []
    for size, steps in ((32, 1), (16, 2), (8, 4), (2, 16)):
        problem = Problem(seed=3, accumulation_steps=steps, epochs=((size,) * (96 // size),))
        ends.append(record(right, problem, frozen=False).parameters[-1])
    return max(float((end - ends[0]).norm() / ends[0].norm()) for end in ends[1:])


def best_rate(batch: int) -> float:
    """The rate with the lowest mean loss on the way, out of a geometric row."""
    rates = tuple(0.0025 * 2**k for k in range(9))
    means = train(batch, rates, "SGD").clamp(max=1e9).mean(0)
    return rates[int(means.argmin())]


def factors(optimizer: str, steps: int) -> dict[str, float]:
    assert steps in STEPS
    assert optimizer in RATES
    return compute(Settings(accumulation_steps=steps, optimizer=optimizer)).factor_by_rule


def in_words(by_rule: dict[str, float]) -> str:
    values = (by_rule[rule] for rule in ("linear", "sqrt", "none"))
    return ", ".join(f"{value:.2f}" if value < 100 else "more than 100" for value in values)


def length_on_top_of_missing_scale(steps: int = 4) -> float:
    """Length of an update with summed gradients at ``steps`` times the rate, over that of the right one."""
    problem = Problem(seed=3, accumulation_steps=steps, epochs=((8,) * steps,))
    model = problem.build_model()
    gradients = torch.stack([batch_gradient(model, problem.loss_fn, batch) for batch in problem.batches()])
    return float((problem.lr * steps * gradients.sum(0)).norm() / (problem.lr * gradients.mean(0)).norm())


def variance_ratios(*, replace: bool) -> dict[int, float]:
    """For some batch sizes the variance of the batch's gradient times its size, over that of a single sample."""
    each = sample_gradients(0)
    single = float((each - each.mean(0)).square().sum(1).mean())
    return {size: size * scatter(each, size, replace, draws=4000) / single for size in (2, 16, 64, 128)}


def _warmup(optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LambdaLR:
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: min(1.0, (k + 1) / WARMUP))


def distance_to_large_batch(loop: Callable) -> float:
    """How far a loop with a warmup ends from training on one large batch per window, over the distance the latter goes."""
    problem = Problem(seed=1, accumulation_steps=4, epochs=((2,) * 48,))
    model = problem.build_model()
    start = flat_parameters(model)
    optimizer = problem.build_optimizer(model)
    scheduler = _warmup(optimizer)
    for window in windows(problem.batches(), 4):
        x, y = (torch.cat(parts) for parts in zip(*window, strict=True))
        optimizer.zero_grad()
        problem.loss_fn(model(x), y).backward()
        optimizer.step()
        scheduler.step()
    large = flat_parameters(model)
    return float((_run(loop, problem)[0] - large).norm() / (large - start).norm())


def updates_of_warmup(loop: Callable) -> int:
    """The first update that has the full rate."""
    problem = Problem(seed=1, accumulation_steps=4, epochs=((2,) * 48,))
    return next(u for u, rate in enumerate(_run(loop, problem)[1], 1) if rate >= problem.lr)


def _run(loop: Callable, problem: Problem) -> tuple[Tensor, list[float]]:
    model = problem.build_model()
    optimizer = problem.build_optimizer(model)
    rates = loop(model, problem.loss_fn, optimizer, _warmup(optimizer), problem.batches(), problem.accumulation_steps)
    return flat_parameters(model), rates


def difference_to_one_batch(micro_batch_size: int, accumulation_steps: int, world_size: int) -> float:
    """Ranks accumulate on their own and average; compared with the gradient of all samples as one batch."""
    problem = Problem(seed=2, epochs=((micro_batch_size,) * (accumulation_steps * world_size),))
    model, batches = problem.build_model(), problem.batches()
    of_ranks = []
    for rank in range(world_size):
        model.zero_grad()
        for x, y in batches[rank::world_size]:
            (problem.loss_fn(model(x), y) / accumulation_steps).backward()
        of_ranks.append(torch.cat([p.grad.flatten() for p in trainable(model)]))
    x, y = (torch.cat(parts) for parts in zip(*batches, strict=True))
    large = batch_gradient(model, problem.loss_fn, (x, y))
    return float((torch.stack(of_ranks).mean(0) - large).norm() / large.norm())
