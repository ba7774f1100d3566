"""What the exercises of unit 05 demand, and the trials that notice."""

from __future__ import annotations

from autograder.contract.promises import Promise, Promises

SIZES = tuple(f"size {k}" for k in range(9))
RULES = tuple(f"rule {k}" for k in range(12))
SAME_RATE = "rule 12"
UNKNOWN = tuple(f"unknown {k}" for k in range(16))
SPELLINGS, EQUAL, LONGER = UNKNOWN[3:7], "unknown 7", ("unknown 9", *UNKNOWN[11:14])
LIVE = ("updates", "no accumulation", "cut", "leftover")
LOOPS = (*LIVE, "rates", "chained", "probe")
REASON = "a `ValueError` with a reason, in any words"
WHOLE = f'{REASON}, if any of the three is not a whole number of at least 1: zero, negative, `2.5`, `"2"` or `None`.'
LIKE_UNIT_04 = "one epoch as in `train_epoch` of unit 04, at the schedule's rates."


def refused(kind: str) -> tuple[str, ...]:
    """The trials with one kind of nonsense."""
    return tuple(f"{kind} {k}" for k in range(5 if kind == "negative" else 4))


BY_NAME = tuple(f"{kind} 3" for kind in ("zero", "negative", "fraction", "text", "none"))
NONSENSE = tuple(name for kind in ("zero", "negative", "fraction", "text", "none") for name in refused(kind))

PROMISES = {
    "effective_batch_size": Promises(
        (
            Promise(
                "product", "the samples that one update averages over, as an integer.", SIZES, "effective_batch_size_added"
            ),
            Promise("integer", "as an integer.", SIZES, "effective_batch_size_float"),
            Promise("ranks", "with and without a world size.", SIZES, "effective_batch_size_one_device"),
            Promise("one", "and three others", SIZES, "effective_batch_size_not_of_one"),
            Promise("large", "and three others", ("size 8",), "effective_batch_size_capped"),
            Promise(
                "one device", "with and without a world size.", ("size 7", "size 8"), "effective_batch_size_adds_on_one_device"
            ),
            Promise("zero", WHOLE, refused("zero"), "effective_batch_size_zero"),
            Promise("negative", WHOLE, refused("negative"), "effective_batch_size_negative"),
            Promise("fraction", WHOLE, refused("fraction"), "effective_batch_size_fraction"),
            Promise("text", WHOLE, refused("text"), "effective_batch_size_text"),
            Promise("none", WHOLE, refused("none"), "effective_batch_size_no_world_size"),
            Promise("by name", WHOLE, BY_NAME, "effective_batch_size_by_position_only"),
            Promise("error", WHOLE, NONSENSE, "effective_batch_size_none"),
            Promise("reason", REASON, NONSENSE, "effective_batch_size_silent"),
        ),
        ("Samples that one update averages over;",),
    ),
    "scale_learning_rate": Promises(
        (
            Promise(
                "rules",
                'return the rate for `batch` by the rule `"none"`, `"linear"` or `"sqrt"`.',
                (*RULES, SAME_RATE),
                "scale_learning_rate_swapped",
            ),
            Promise(
                "larger", "for larger and for smaller batches.", (*RULES[:6], SAME_RATE), "scale_learning_rate_never_higher"
            ),
            Promise(
                "much larger", "for larger and for smaller batches.", (*RULES[3:6], SAME_RATE), "scale_learning_rate_ceiling"
            ),
            Promise("smaller", "for larger and for smaller batches.", RULES[6:], "scale_learning_rate_never_lower"),
            Promise("much smaller", "for larger and for smaller batches.", RULES[9:], "scale_learning_rate_floor"),
            Promise("unknown", "for any other text.", UNKNOWN, "scale_learning_rate_anything_goes"),
            Promise("other texts", "for any other text.", UNKNOWN, "scale_learning_rate_part_of_a_name"),
            Promise("longer names", "for any other text.", LONGER, "scale_learning_rate_if_it_contains_a_name"),
            Promise("nicknames", "for any other text.", UNKNOWN[14:], "scale_learning_rate_nicknames"),
            Promise("spelling", "for any other text.", SPELLINGS, "scale_learning_rate_any_spelling"),
            Promise("whatever the batches", "for any other text.", (EQUAL,), "scale_learning_rate_equal_batches_first"),
            Promise("reason", REASON, UNKNOWN, "scale_learning_rate_silent"),
        ),
        ("Write `scale_learning_rate", "The rate for another effective batch"),
    ),
    "train_with_schedule": Promises(
        (
            Promise("loss", LIKE_UNIT_04, LIVE, "schedule_own_loss"),
            Promise("arguments of the loss", LIKE_UNIT_04, LIVE, "schedule_loss_swapped"),
            Promise("mean", LIKE_UNIT_04, LIVE, "no_scale_scheduled"),
            Promise("no more updates", LIKE_UNIT_04, LOOPS, "schedule_step_every"),
            Promise("optimizer", "Update by `optimizer.step()`; the optimizer may have momentum.", LOOPS, "schedule_by_hand"),
            Promise("once per update", "The schedule moves on once per update", LOOPS, "schedule_per_micro_batch"),
            Promise("after it", "The schedule moves on once per update, after it.", LOOPS, "schedule_before_step"),
            Promise("own rate", "at the schedule's rates.", LOOPS, "lr_multiplied"),
            Promise(
                "list",
                "Return a list with the rate that each update used.",
                ("rates", "leftover", "chained"),
                "rates_not_returned",
            ),
            Promise(
                "goes on",
                "carries on from where it was.",
                ("updates", "leftover", "rates", "chained", "probe"),
                "schedule_restarts",
            ),
            Promise("hooks", "Leave no hook on the optimizer.", LOOPS, "schedule_leaves_a_hook"),
            Promise("attributes", "The next epoch is given the same scheduler", LOOPS, "schedule_leaves_an_attribute"),
            Promise("training", "The model is in training mode", LOOPS, "schedule_evaluates"),
            Promise("mode", "The model is in training mode; leave it there.", ("updates",), "schedule_leaves_evaluation"),
            Promise("clear", "`.grad` is empty when you are first called.", LOOPS, "zero_every_scheduled"),
            Promise("N = 1", "three epochs, N = 1 included.", ("no accumulation",), "schedule_not_for_one"),
            Promise("one by one", "Micro-batches go through the model one by one.", ("cut",), "schedule_one_forward"),
            Promise("rate 0", "The schedule moves on once per update", ("leftover",), "schedule_skips_rate_zero"),
            Promise("leftover", "a leftover is applied", ("leftover", "probe"), "tail_dropped_scheduled"),
            Promise("leftover's mean", "averages over the samples it has", ("leftover", "probe"), "tail_scale_scheduled"),
            Promise(
                "leftover moves the schedule", "is an update like any other", ("leftover", "probe"), "schedule_skips_leftover"
            ),
            Promise(
                "short epoch", "in an epoch shorter than one window.", ("leftover", "probe"), "schedule_short_epoch_skipped"
            ),
            Promise("ragged", "All samples of a window count equally.", ("leftover", "probe"), "mean_of_means_scheduled"),
            Promise(
                "one for each",
                "one number for each update, in order",
                ("rates", "leftover", "chained"),
                "rates_of_micro_batches",
            ),
            Promise("digits", "the rate that each update used.", ("rates", "leftover", "chained"), "rates_rounded"),
            Promise("repeated rates", "one number for each update, in order", ("leftover",), "rates_without_repeats"),
            Promise(
                "leftover's rate", "on leftovers once the other two parts are right.", ("leftover",), "rates_of_full_windows"
            ),
            Promise("used", "your updates used them.", LOOPS, "schedule_without_gradients"),
            Promise("not the next", "the rate that each update used.", ("rates", "leftover", "chained"), "rate_of_next"),
            Promise("any schedule", "at the schedule's rates.", ("chained",), "rates_asked_of_the_formula"),
        ),
        ("`windows(micro_batches", "Train for one epoch at"),
    ),
    "gradient_noise_scale": Promises(
        (
            Promise(
                "two equations",
                "Solve the two equations, reading ≈ as =",
                ("two", "several", "single samples", "negative", "short"),
                "gradient_noise_scale_biased",
            ),
            Promise("two windows", "a list of N ≥ 2 vectors", ("two",), "gradient_noise_scale_of_several"),
            Promise(
                "samples",
                "of a micro-batch of B = `micro_batch_size` samples.",
                ("two", "several", "negative", "short"),
                "gradient_noise_scale_of_single_samples",
            ),
            Promise(
                "kept",
                "Leave them as they are.",
                ("two", "several", "single samples", "negative", "short"),
                "gradient_noise_scale_in_place",
            ),
            Promise("short", "as small as 1e-30", ("short",), "gradient_noise_scale_never_divides_by_zero"),
            Promise("negative", "return what the equations say.", ("negative",), "gradient_noise_scale_clamped"),
            Promise(
                "number",
                "as a number.",
                ("two", "several", "single samples", "negative", "short"),
                "gradient_noise_scale_as_text",
            ),
        ),
        (
            "Write `gradient_noise_scale",
            "(Both solutions",
            "for five windows",
            "The vectors are in float64.",
            "The simple noise scale",
        ),
    ),
}
