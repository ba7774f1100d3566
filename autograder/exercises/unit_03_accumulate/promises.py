"""What the texts of this unit's exercises demand."""

from autograder.contract.promises import Promise, Promises

EVERYWHERE = ("equal", "ragged", "clean", "memory", "overflowed", "single")
EVERY_TRIAL = (*EVERYWHERE, "ragged memory", "probe")
RATES, PAIRS = ("0", "1", "2", "3"), tuple(map(str, range(21)))

PROMISES = {
    "accumulate_gradient": Promises(
        (
            Promise("mean", "the gradient of the mean loss over all samples", EVERYWHERE, "no_scale"),
            Promise("arguments", "`loss_fn(prediction, target)`", EVERYWHERE, "swapped_loss_arguments"),
            Promise("loss", "a mean over the samples of its batch", EVERYWHERE, "loss_of_its_own"),
            Promise("any model", "the gradient of the mean loss over all samples", ("equal",), "squeezes_the_prediction"),
            Promise("one or more", "a list of one or more pairs", ("equal", "single"), "no_single_micro_batch"),
            Promise(
                "every call",
                "the gradient is right when all have B samples, at every call",
                ("equal", "clean"),
                "counts_samples_of_all_calls",
            ),
            Promise("ragged", "when their sizes differ", ("ragged",), "mean_of_means"),
            Promise("stale", "none of it is left", ("clean", "overflowed", "single"), "stale_start"),
            Promise("stale and unused", "may hold anything when you are called", ("clean",), "stale_gradient_of_unused"),
            Promise("infinity", "infinity included", ("overflowed",), "clears_by_multiplying"),
            Promise("any names", "Some of its parameters may be frozen", ("clean",), "knows_the_parameters_by_name"),
            Promise("cleared again", "after every call none of it is left", ("clean",), "clears_once"),
            Promise("shared", "with a weight that two layers share", ("ragged",), "divides_layer_by_layer"),
            Promise("memory", "peak memory stays below nine times", ("memory", "ragged memory"), "one_big_batch_summed_losses"),
            Promise("ragged memory", "ragged or not", ("ragged memory",), "one_big_batch_if_ragged"),
            Promise("single and stale", "after every call none of it is left", ("single",), "clears_for_several"),
            Promise(
                "parameters", "leaves the parameters and the micro-batches as they are", EVERYWHERE, "moves_the_parameters"
            ),
            Promise("data", "leaves the parameters and the micro-batches as they are", EVERYWHERE, "empties_the_list"),
            Promise("attached", "no hook and no attribute stays on the model", EVERY_TRIAL, "notes_the_samples_on_the_model"),
            Promise("seed", "you do not seed torch", EVERY_TRIAL, "seeds"),
            Promise("frozen", "frozen parameters frozen", ("ragged", "clean"), "unfreezes_everything"),
            Promise("mode", "and the model in training mode", EVERYWHERE, "eval_mode_left_behind"),
        ),
        (
            "Write `accumulate_gradient",
            "You are given",
            "`model`, in training mode.",
            "`len(x)` is the number of samples.",
            "What it returns is ignored.",
            "An unused parameter's",
            "Leave in .grad the gradient",
        ),
    ),
    "sum_form_lr": Promises(
        (
            Promise("rate", "returns $\\alpha'$", RATES, "sum_form_lr_unchanged"),
            Promise("number", "a number, not rounded", RATES, "sum_form_lr_rounded"),
            Promise("N = 1", "one of them with N = 1", ("2",), "sum_form_lr_two_at_least"),
        ),
        ("A colleague's loop", "You want it", "Both use plain SGD", "The learning rate with which"),
    ),
    "same_update": Promises(
        (
            Promise("pairs", "says whether both make the same updates", PAIRS, "same_update_sum"),
            Promise("either way", "all must be right", PAIRS, "same_update_at_least"),
            Promise("exactly", "all must be right", ("11", "17", "18", "19"), "same_update_roughly"),
            Promise("more than a million", "with millions of samples", ("18", "19"), "same_update_to_a_millionth"),
            Promise("float32", "with millions of samples", ("19",), "same_update_in_float32"),
            Promise("last digits", "all must be right", ("20",), "same_update_by_last_digits"),
            Promise("all digits", "all must be right", ("12", "20"), "same_update_last_digit"),
            Promise("rounding", "all must be right", PAIRS, "same_update_sums_of_logarithms"),
            Promise("truth values", "`True` or `False`", PAIRS, "same_update_in_words"),
        ),
        ("Two people", "One works", "All five conditions", "Whether two configurations"),
    ),
}
