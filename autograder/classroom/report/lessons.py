"""Where the course shows a mistake: what to open again in the lecture."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.contract.units import UNITS


@dataclass(frozen=True)
class Lesson:
    """A section of a unit; ``heading`` as it stands in the notebook, or empty for the unit as a whole."""

    unit: str
    heading: str = ""


SECTIONS = {
    "average_gradients": "Explore: a loop in one picture",
    "batch_gradient": "Explore: gradients of samples",
    "average_sample_gradients": "Adding is not averaging",
    "sgd_step": "One update",
    "saved_bytes": "What autograd keeps",
    "memory_line": "From counts to a line",
    "plan_micro_batches": "Explore: where the memory goes",
    "accumulate_gradient": "Explore: B×N equivalence",
    "sum_form_lr": "Two right formulas",
    "same_update": "When are they the same?",
    "train_epoch": "Explore: loop timeline",
    "repaired_early_clear": "Clearing too early",
    "repaired_eager_step": "Updating too early",
    "repaired_lost_tail": "A leftover that is lost",
    "name_that_loop": "Explore: the gallery",
    "effective_batch_size": "The effective batch",
    "scale_learning_rate": "Three rules",
    "train_with_schedule": "Schedules count updates",
    "gradient_noise_scale": "The noise scale, for free",
    "train_epoch_clipped": "Where and with which threshold?",
    "train_epoch_amp": "Mixed precision in four lines",
    "accumulate_in_float32": "Explore: low-precision sums",
    "replace_batchnorm": "Explore: BatchNorm divergence",
    "matched_bn_momentum": "If you must keep BatchNorm",
    "matched_beta": "Explore: momentum effects",
    "breaks_equivalence": "Exact, or not?",
    "train_epoch_tokens": "Explore: token-weighted loss",
    "window_denominator": "Equal sizes, and still unequal",
    "accumulate_contrastive": "The way out",
    "accumulation_cost": "What it costs",
    "ddp_train_epoch": "Explore: ranks over time",
    "global_token_scale": "Tokens on ranks",
    "load_checkpoint": "What the future of a run depends on",
    "RunMeter": "What to write down",
    "plan_run": "A plan",
    "pick_micro_batch_size": "The budget",
    "train_window": "Explore: where a run leaves the large batch's",
    "train": "Stop and go on",
}
"""The section that prepares each exercise. It shows the mistakes of that exercise that are not listed below."""

SHOWN = {
    ("01_batches_and_gradients", "Two ways to ask for a gradient"): ("frozen-returned", "frozen-thawed", "grad-touched"),
    ("01_batches_and_gradients", "Adding is not averaging"): (
        "sums-samples",
        "samples-divided-twice",
        "divided-again-and-again",
        "other-divisor",
        "sum-reduction",
    ),
    ("02_memory_limits", "Tensors and storages"): ("counts-twice", "sizes-merged", "views-cut-short", "parameters-by-shape"),
    ("02_memory_limits", "Four kinds of bytes"): ("line-through-zero", "fixed-forgotten", "fixed-for-each"),
    ("03_accumulate", "`backward()` adds"): ("stale-start", "never-zero", "zero-every"),
    ("03_accumulate", "A sum where a mean is due"): ("double-scale", "sum-reduction"),
    ("03_accumulate", "Explore: B×N equivalence"): ("no-scale",),
    ("03_accumulate", "Ragged micro-batches"): ("mean-of-means",),
    ("04_training_loop", "Explore: loop timeline"): ("zero-before-step", "never-zero", "stale-start", "one-big-batch"),
    ("04_training_loop", "Clearing too early"): ("zero-every",),
    ("04_training_loop", "Updating too early"): ("step-every", "off-by-one-early", "off-by-one-late"),
    ("04_training_loop", "Explore: missing 1/N"): ("no-scale", "double-scale", "lr-scaled-too"),
    ("04_training_loop", "Cutting a stream into windows"): ("epoch-prefetched", "same-batch-repeated"),
    ("04_training_loop", "A leftover that is lost"): ("tail-dropped", "tail-stale", "tail-scale", "short-epoch-no-step"),
    ("04_training_loop", "Explore: the gallery"): ("retained-graph", "detached", "grad-disabled", "eval-mode"),
    ("05_learning_rate", "A heuristic, not a law"): ("lr-multiplied",),
    ("06_mixed_precision_and_clipping", "Explore: order of operations"): (
        "clip-per-micro-batch",
        "clip-too-late",
        "clip-too-early",
        "clip-before-unscale",
        "unscale-missing",
        "unscale-each",
        "scaler-step-every",
        "scaler-update-every",
    ),
    ("06_mixed_precision_and_clipping", "Clipping"): ("clip-by-value", "clip-per-parameter", "clip-always", "norm-after-clip"),
    ("06_mixed_precision_and_clipping", "Where and with which threshold?"): ("threshold-too-high", "threshold-too-low"),
    ("07_when_equivalence_breaks", "The optimizer is innocent"): ("optimizer-blamed",),
    ("07_when_equivalence_breaks", "Why: does a sample see the others?"): ("sound-layer-blamed", "batchnorm-trusted"),
    ("08_unequal_micro_batches", "Targets that do not count"): (
        "padding-counted",
        "ignore-index-fixed",
        "empty-is-nan",
        "empty-window-is-nan",
        "empty-skipped",
    ),
    ("08_unequal_micro_batches", "The loop you already have"): ("sequences-for-tokens",),
    ("09_contrastive_losses", "Explore: who is compared with whom"): ("local-negatives", "negatives-so-far"),
    ("09_contrastive_losses", '"The sum, effectively the mean"'): ("window-loss-over-n", "temperature-times-n"),
    ("09_contrastive_losses", "The loss"): ("temperature-forgotten", "directions-added", "one-direction"),
    ("10_distributed", "no_sync"): ("sync-around-backward-only", "sync-wrong-one", "tail-not-synced", "windows-not-synced"),
    ("10_distributed", "DistributedDataParallel"): ("rank-sum", "rank-divided-twice", "never-sync"),
    ("11_running_it", "Between two updates"): ("mid-window-checkpoint", "checkpoint-overwritten"),
    ("11_running_it", "Explore: run dashboard"): (
        "graph-kept",
        "loss-never-restarted",
        "clock-never-restarted",
        "throughput-of-one-micro-batch",
        "throughput-of-micro-batches",
        "throughput-of-updates",
    ),
    ("11_running_it", "Powers of two?"): ("powers-of-two-only",),
}
"""Sections that show certain mistakes, whichever exercise they were made in."""


def lesson_of(unit: str, exercise: str, slug: str = "") -> Lesson:
    """What shows a mistake that was made in an exercise, or, without a slug, what prepares the exercise.

    The unit of the exercise comes first, then the latest one before it: that is what students remember.
    """
    places = [Lesson(*place) for place, slugs in SHOWN.items() if slug in slugs]
    known = [lesson for lesson in places if _position(lesson.unit) <= _position(unit)]
    if known:
        return max(known, key=lambda lesson: _position(lesson.unit))
    return Lesson(unit, SECTIONS.get(exercise, ""))


def _position(unit: str) -> int:
    return UNITS.index(unit) if unit in UNITS else len(UNITS)
