"""Training loops: the gallery of the right one and each famous wrong one, and how micro-batches are cut into windows.

Loops with a schedule, with mixed precision, over tokens, over pairs or on several ranks are in modules of their own.
"""

from gradaccum.loops.gallery import (
    GALLERY,
    double_scale,
    eval_mode,
    lr_scaled_too,
    mean_of_means,
    never_zero,
    no_scale,
    off_by_one_early,
    off_by_one_late,
    retained_graph,
    right,
    same_batch_repeated,
    short_epoch_no_step,
    source,
    stale_start,
    step_every,
    sum_reduction,
    tail_dropped,
    tail_scale,
    tail_stale,
    zero_before_step,
    zero_every,
)
from gradaccum.loops.micro_batches import MicroBatches, Window, samples_in, windows

__all__ = [
    "GALLERY",
    "MicroBatches",
    "Window",
    "double_scale",
    "eval_mode",
    "lr_scaled_too",
    "mean_of_means",
    "never_zero",
    "no_scale",
    "off_by_one_early",
    "off_by_one_late",
    "retained_graph",
    "right",
    "same_batch_repeated",
    "samples_in",
    "short_epoch_no_step",
    "source",
    "stale_start",
    "step_every",
    "sum_reduction",
    "tail_dropped",
    "tail_scale",
    "tail_stale",
    "windows",
    "zero_before_step",
    "zero_every",
]
