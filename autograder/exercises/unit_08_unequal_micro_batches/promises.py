"""What the exercises of unit 08 demand, and the trials that notice."""

from __future__ import annotations

from autograder.contract.promises import Promise, Promises

EMPTY = ("empty", "bare", "bare one")
MOVES = ("tokens", "no accumulation", "leftover", *EMPTY)
LOOPS = (*MOVES, "overflowed", "memory", "ignore", "ignore another", "losses", "probe")
WINDOWS = (
    *("count", "count one", "count many", "count ignored", "count class", "weights", "weights equal", "weights small"),
    *("ignored", "ignored last", "ignored class", "ignored in between", "ignored all"),
)
TOKEN_MEAN = "with the gradient of the cross-entropy averaged over all tokens of the window."
REPORTED = "for each window one number, its mean over tokens, as your forward passes computed it before the update."
STALE = "nothing that `.grad` held before, infinity included, joins an update."
SHAPES = "integer tensors of any shape"

PROMISES = {
    "train_epoch_tokens": Promises(
        (
            Promise("tokens", TOKEN_MEAN, LOOPS, "sum_over_sequences"),
            Promise("not positions", TOKEN_MEAN, LOOPS, "positions_denominator"),
            Promise("all tokens of the window", TOKEN_MEAN, LOOPS, "mean_of_means_right_report"),
            Promise("class 0", TOKEN_MEAN, ("tokens", "no accumulation", "ignore another"), "zero_is_no_token"),
            Promise("not clipped", TOKEN_MEAN, ("no accumulation",), "clips_at_five"),
            Promise("few tokens", TOKEN_MEAN, ("empty",), "divides_by_n_at_least"),
            Promise("as they are", "Leave these tensors as they are.", ("ignore", "leftover"), "rewrites_targets"),
            Promise("inputs", "Leave these tensors as they are.", ("leftover",), "tokens_clears_ignored_inputs"),
            Promise("one update", "one update for each window", LOOPS, "step_every"),
            Promise("list", "Return a list with that mean loss for each window.", LOOPS, "nothing_returned"),
            Promise("mean loss", REPORTED, LOOPS, "loss_mean_of_means"),
            Promise("before the update", REPORTED, ("leftover", "empty"), "losses_after_the_update"),
            Promise("loss without tokens", REPORTED, ("empty",), "loss_counted_at_least_one_each"),
            Promise("loss with any index", REPORTED, ("ignore",), "loss_counted_by_minus_100"),
            Promise("in training", REPORTED, ("losses",), "losses_in_evaluation"),
            Promise("training", "in training mode; leave it there.", ("tokens", "losses", "probe"), "eval_mode"),
            Promise("mode", "in training mode; leave it there.", ("tokens",), "leaves_evaluation"),
            Promise(
                "frozen or unused",
                "Some parameters may be frozen or unused; these begin without a `.grad`.",
                ("tokens",),
                "needs_every_gradient",
            ),
            Promise(
                "groups", "which may have several groups of parameters.", ("tokens", "leftover"), "divides_the_first_group"
            ),
            Promise("optimizer", "Update with `optimizer.step()`.", LOOPS, "updates_by_hand"),
            Promise("stream", "a list or a one-shot stream of pairs", ("leftover", "empty"), "needs_a_list"),
            Promise("shapes", "Both sizes differ from one micro-batch to the next.", LOOPS, "same_lengths_only"),
            Promise("not shifted", "do not shift them.", LOOPS, "targets_shifted"),
            Promise("leftover", "it is applied as well.", (*LOOPS,), "tail_dropped"),
            Promise("leftover of one", "it is applied as well.", ("leftover",), "leaves_out_leftovers_of_one"),
            Promise(
                "ignore", "Targets equal to it do not count as tokens.", ("ignore", "ignore another"), "ignores_only_minus_100"
            ),
            Promise(
                "not only negative",
                "It may be a number other than −100",
                ("ignore", "ignore another"),
                "negatives_are_no_tokens",
            ),
            Promise("any index", "targets that equal 0, or 7, do not count.", ("ignore another",), "knows_two_indices"),
            Promise("N = 1", "and N = 1.", ("no accumulation", "bare one"), "not_for_one"),
            Promise("memory", "your peak memory stays below nine times", ("memory",), "one_graph_for_the_window"),
            Promise("stale", STALE, ("leftover", "overflowed", "probe"), "stale_start"),
            Promise("infinity", STALE, ("overflowed",), "clears_by_multiplying"),
            Promise("clear", STALE, LOOPS, "never_zero"),
            Promise("no NaN", "no NaN, and", EMPTY, "nan_times_zero"),
            Promise("one of the N", "such a micro-batch is still one of the N of its window.", EMPTY, "empty_skipped"),
            Promise("bare", "it changes nothing", EMPTY[1:], "nan_of_a_bare_window"),
            Promise("bare with N = 1", "it changes nothing", ("bare one",), "nan_for_one"),
            Promise("bare loss", "and its loss in your list is 0.", EMPTY[1:], "bare_window_not_reported"),
        ),
        (
            "You are given",
            "`model(x)` gives",
            "Marking uses plain SGD",
            "The logits at a position",
            "`accumulation_steps`, N.",
            "`ignore_index`.",
            "`F.cross_entropy` takes",
            "full windows, three epochs",
            "The first four",
            "The fifth compares",
            "In all of them",
            "Train for one epoch",
        ),
    ),
    "window_denominator": Promises(
        (
            Promise("denominator", "gives for the window as one large batch.", WINDOWS, "denominator_of_micro_batches"),
            Promise("window", "the sum of the micro-batches' summed losses", WINDOWS, "denominator_averaged"),
            Promise("shapes", SHAPES, WINDOWS, "denominator_rows_and_columns"),
            Promise("class 0", SHAPES, WINDOWS, "denominator_zero_is_no_class"),
            Promise("weight", "`weight`, if given, holds a weight for each class.", WINDOWS, "denominator_without_weights"),
            Promise("of targets", "`weight`, if given, holds a weight for each class.", WINDOWS, "denominator_of_classes"),
            Promise(
                "small weights",
                "`weight`, if given, holds a weight for each class.",
                ("weights small",),
                "denominator_at_least_one_of_weights",
            ),
            Promise(
                "equal weights",
                "`weight`, if given, holds a weight for each class.",
                ("weights equal",),
                "denominator_without_equal_weights",
            ),
            Promise("many", SHAPES, ("count many",), "denominator_in_a_byte"),
            Promise("number", "A number or a tensor with one element will do.", WINDOWS, "denominator_as_text"),
            Promise("kept", "Leave the targets and weights as they are.", WINDOWS, "denominator_writes_into_targets"),
            Promise("ignored", "with and without ignored targets", WINDOWS, "denominator_counts_all"),
            Promise("one", "and for a single target.", ("count one",), "denominator_not_of_one"),
            Promise(
                "index",
                "if it is 0 or 2, that class does not count.",
                ("ignored last", "ignored class", "ignored in between", "count class"),
                "denominator_fixed_index",
            ),
            Promise(
                "not only negative",
                "if it is 0 or 2, that class does not count.",
                ("ignored in between", "ignored class", "count class"),
                "denominator_negatives_only",
            ),
            Promise("all ignored", "and the denominator is 0.", ("ignored all",), "denominator_at_least_one"),
        ),
        ("Write `window_denominator", "no target is ignored", "What the summed losses"),
    ),
}
