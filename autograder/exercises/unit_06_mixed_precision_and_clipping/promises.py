"""What the exercises of unit 06 demand, and the trials that notice."""

from __future__ import annotations

from autograder.contract.promises import Promise, Promises

CLIPPED = ("bound", "idle", "no accumulation", "cut", "norms", "both sides", "overflowed", "leftover", "bound alone", "probe")
LONG = ("bound", "both sides", "leftover", "bound alone")
AMP = (
    *("float16", "bfloat16", "no accumulation", "cut", "telling", "usual scale", "cancelling"),
    *("clip", "inf", "infinite", "inf leftover", "growth", "leftover", "overflowed", "together", "clip alone"),
)
AMP_CLIPPED = ("clip", "leftover", "together", "clip alone")
FORWARDS = ("float16", "bfloat16", "no accumulation", "telling", "usual scale")
SUMS = ("sums", "ragged", "telling", "cancelling", "evaluation", "narrow", "tied")
LIKE_UNIT_04 = "one epoch as in unit 04, except that each window's gradient is clipped to `max_norm` before its update."
MODE = "The model is in training mode; leave it there."
LIKE_EXERCISE_1 = (
    "As in exercise 1, the model stays in training mode, every parameter is trained, and the optimizer may have momentum."
)
MEAN = "the gradient of the mean loss over all samples"

PROMISES = {
    "train_epoch_clipped": Promises(
        (
            Promise("loss", LIKE_UNIT_04, CLIPPED, "clip_own_loss"),
            Promise("arguments of the loss", LIKE_UNIT_04, CLIPPED, "clip_loss_swapped"),
            Promise("mean", LIKE_UNIT_04, CLIPPED, "clip_no_scale"),
            Promise("clip", LIKE_UNIT_04, LONG, "clip_never"),
            Promise("once", LIKE_UNIT_04, (*LONG, "norms"), "clip_per_micro_batch"),
            Promise("complete", LIKE_UNIT_04, (*LONG, "idle", "no accumulation", "norms"), "clip_too_early"),
            Promise("before the update", "before its update.", LONG, "clip_after_the_step"),
            Promise("threshold", "clipped to `max_norm`", LONG, "clip_threshold_divided"),
            Promise("whole gradient", "each window's gradient is clipped", LONG, "clip_each_parameter"),
            Promise("groups", "the optimizer may have momentum and several parameter groups.", ("bound",), "clip_each_group"),
            Promise("same threshold", "norms on both sides of the threshold", ("both sides",), "clip_threshold_follows"),
            Promise(
                "infinity", "`.grad` may hold anything when you are called.", ("overflowed",), "clip_clears_by_multiplying"
            ),
            Promise(
                "short ones",
                "equal micro-batches",
                tuple(name for name in CLIPPED if name not in ("bound", "norms", "leftover", "bound alone")),
                "clip_always",
            ),
            Promise(
                "norms", "the norm of its gradient before clipping.", ("norms", "bound", "bound alone"), "clipped_norm_returned"
            ),
            Promise(
                "list",
                "Return a list with one number for each window",
                ("norms", "bound", "idle", "no accumulation", "bound alone"),
                "clip_nothing_returned",
            ),
            Promise("each norm", "one for each window, before clipping.", ("norms", "idle"), "clip_norms_of_full_windows"),
            Promise(
                "ragged", "full windows of ragged", ("bound", "both sides", "leftover", "norms", "probe"), "clip_mean_of_means"
            ),
            Promise("leftover", "the last window may be shorter", ("idle", "leftover", "norms", "probe"), "clip_tail_dropped"),
            Promise(
                "clipped leftover", "this one is also tested with a leftover window", ("leftover",), "clip_full_windows_only"
            ),
            Promise("stream", "`micro_batches` may be a one-shot stream", ("bound",), "clip_needs_a_length"),
            Promise(
                "clear",
                "`.grad` may hold anything when you are called.",
                ("idle", "no accumulation", "overflowed", "probe"),
                "clip_keeps_old_gradients",
            ),
            Promise("training", MODE, CLIPPED, "clip_evaluates"),
            Promise("mode", MODE, ("idle",), "clip_leaves_evaluation"),
            Promise(
                "optimizer",
                "Update by `optimizer.step()`; the optimizer may have momentum and several parameter groups.",
                CLIPPED,
                "clip_updates_by_hand",
            ),
            Promise("N = 1", "N = 1 included.", ("no accumulation", "bound alone"), "clip_not_for_one"),
            Promise(
                "clipped alone",
                "tested with a leftover window, with N = 1",
                ("bound alone",),
                "clip_only_what_is_accumulated",
            ),
            Promise("one by one", "Micro-batches go through the model one by one.", ("cut",), "clip_one_forward"),
        ),
        ("Every parameter is trained.", "(`islice` is imported", "The first two compare", "Train for one epoch"),
    ),
    "train_epoch_amp": Promises(
        (
            Promise("loss", "one epoch in mixed precision.", AMP, "amp_own_loss"),
            Promise("arguments of the loss", "one epoch in mixed precision.", AMP, "amp_loss_swapped"),
            Promise("mean", "Parameters have to agree with clipped large batches", AMP, "amp_no_scale"),
            Promise(
                "scaler",
                "one epoch in mixed precision.",
                ("bfloat16", "no accumulation", "telling", "inf", "infinite", "growth", "leftover", "inf leftover"),
                "amp_scaler_unused",
            ),
            Promise("sums", "gradients are added up in float32;", ("cancelling",), "amp_sums_in_bfloat16"),
            Promise("dtype", "`dtype` is `torch.float16` or `torch.bfloat16`.", ("bfloat16", "telling"), "amp_always_float16"),
            Promise("autocast", "forwards run in `dtype`", FORWARDS, "amp_without_autocast"),
            Promise("any call", "forwards run in `dtype`", FORWARDS, "amp_around_the_hooks"),
            Promise("usual scale", "one epoch in mixed precision.", ("usual scale",), "amp_converts_the_loss"),
            Promise("rounded", "forwards run in `dtype`", ("telling", "usual scale"), "amp_shows_another_dtype"),
            Promise("parameters", "one epoch in mixed precision.", AMP, "amp_converts_the_model"),
            Promise("clip", "Clip the unscaled gradient of each window to `max_norm`", AMP_CLIPPED, "amp_never_clips"),
            Promise("unscaled", "Clip the unscaled gradient", (*AMP_CLIPPED, "no accumulation"), "amp_clip_before_unscale"),
            Promise("unscaled in both", "Use the scaler with both.", ("together",), "amp_bfloat16_clipped_before_unscale"),
            Promise(
                "unscaled by its own scale",
                "Clip the unscaled gradient",
                ("together", "no accumulation"),
                "amp_unscales_by_the_first_scale",
            ),
            Promise("short ones", "no norm reaches `max_norm`.", AMP, "amp_always"),
            Promise(
                "clipped leftover", "that of a leftover window included;", ("leftover", "together"), "amp_full_windows_only"
            ),
            Promise(
                "clipped alone", "Clip the unscaled gradient of each window", ("clip alone",), "amp_clips_what_is_accumulated"
            ),
            Promise("norms", "return the norms before clipping.", AMP_CLIPPED, "amp_clipped_norm_returned"),
            Promise("list", "the returned norms count here.", (*AMP_CLIPPED, "inf", "no accumulation"), "amp_returns_nothing"),
            Promise("number for inf", "but do return one.", ("inf",), "amp_omits_infinite_norms"),
            Promise("ragged", "Micro-batches may be ragged", ("float16", "bfloat16", *AMP_CLIPPED), "amp_mean_of_means"),
            Promise(
                "leftover",
                "the last window shorter",
                ("float16", "bfloat16", "leftover", "together", "inf leftover"),
                "amp_tail_dropped",
            ),
            Promise(
                "clear",
                "`.grad` may hold anything when you are called.",
                ("bfloat16", "no accumulation", "overflowed"),
                "amp_keeps_old_gradients",
            ),
            Promise("infinity", "`.grad` may hold anything when you are called.", ("overflowed",), "amp_clears_by_multiplying"),
            Promise("training", LIKE_EXERCISE_1, AMP, "amp_evaluates"),
            Promise("mode", LIKE_EXERCISE_1, ("float16",), "amp_leaves_evaluation"),
            Promise("optimizer", "the optimizer may have momentum.", AMP, "amp_steps_twice"),
            Promise("one by one", "each with one micro-batch, and", ("cut",), "amp_one_forward"),
            Promise("any model", "one epoch in mixed precision.", ("no accumulation",), "amp_squeezes_the_prediction"),
            Promise("N = 1", "N = 1 counts here, too.", ("no accumulation",), "amp_not_for_one"),
            Promise("dtype of one", "N = 1 counts here, too.", ("no accumulation",), "amp_without_autocast_for_one"),
            Promise(
                "both dtypes",
                "Use the scaler with both.",
                ("bfloat16", "telling", "inf", "inf leftover"),
                "amp_scaler_for_float16_only",
            ),
            Promise("one step", "and the scale at the end has to be exact.", ("no accumulation",), "amp_no_scaler_for_one"),
            Promise(
                "leftover counts",
                "and the scale at the end has to be exact.",
                ("leftover", "inf leftover"),
                "amp_no_update_after_leftover",
            ),
            Promise(
                "counting",
                "and the scale at the end has to be exact.",
                ("inf", "infinite", "inf leftover"),
                "amp_halves_the_scale_by_hand",
            ),
            Promise(
                "inf",
                "one micro-batch out of nine or twelve is broken.",
                ("inf", "infinite", "inf leftover"),
                "amp_inf_applied",
            ),
            Promise("inf in both", "Use the scaler with both.", ("inf", "inf leftover"), "amp_bfloat16_inf_applied"),
            Promise(
                "inf without NaN", "one micro-batch out of nine or twelve is broken.", ("infinite",), "amp_looks_for_nan_only"
            ),
            Promise("large scales", "and the scale at the end has to be exact.", ("telling",), "amp_scale_capped"),
            Promise(
                "inf lowers the scale",
                "the scale at the end has to be exact.",
                ("inf", "infinite", "inf leftover"),
                "amp_skips_infinities_itself",
            ),
            Promise("scale", "a scaler that doubles its scale after every good update.", AMP, "amp_scale_doubled_inside"),
        ),
        ("`scaler` is a", "`micro_batches` is a list.", "all norms are above", "Train for one epoch"),
    ),
    "accumulate_in_float32": Promises(
        (
            Promise("loss", MEAN, SUMS, "float32_own_loss"),
            Promise("arguments of the loss", MEAN, SUMS, "float32_loss_swapped"),
            Promise("mean", MEAN, SUMS, "float32_no_scale"),
            Promise("dictionary", "Return a dictionary from the names", SUMS, "float32_list"),
            Promise("names", "the names of `model.named_parameters()`", SUMS, "float32_names_of_the_state"),
            Promise("float32 results", "to float32 tensors", SUMS, "float32_returned_in_bfloat16"),
            Promise("float32 sums", "added up in float32.", ("sums", "cancelling"), "float32_divided_at_the_end"),
            Promise(
                "each addition",
                "The other two survive only if every addition is in float32.",
                ("cancelling",),
                "float32_flushes_pairs",
            ),
            Promise("samples", "all samples count equally.", ("ragged", "evaluation"), "float32_mean_of_means"),
            Promise("bfloat16", "computed by the model as it is", SUMS, "float32_copy_of_the_model"),
            Promise("parameters", "computed by the model as it is", SUMS, "float32_parameters_under_autocast"),
            Promise("infinity", "it may hold anything when you are called.", ("evaluation",), "float32_clears_by_multiplying"),
            Promise("mode", "computed by the model as it is", SUMS, "float32_evaluates"),
            Promise(
                "one by one",
                "each micro-batch goes through the bfloat16 model on its own.",
                ("sums", "telling", "cancelling"),
                "float32_one_forward",
            ),
            Promise("digits", "but do not round the finished sums.", ("sums",), "float32_rounded_at_the_end"),
            Promise(
                "digits before dividing", "but do not round the finished sums.", ("sums",), "float32_rounded_before_dividing"
            ),
            Promise("kept", "Afterwards parameters, their dtype and", SUMS, "float32_trains"),
            Promise("kept mode", "and so are the mode of every layer", SUMS, "float32_leaves_evaluation"),
            Promise("mode of parts", "the mode of every layer", ("evaluation",), "float32_one_mode_for_all_layers"),
            Promise("either mode", "the model may be in either mode.", ("evaluation",), "float32_always_trains"),
            Promise("frozen", "their `requires_grad` are what they were,", SUMS, "float32_freezes"),
            Promise("data", "and the micro-batches.", SUMS, "float32_empties_the_list"),
            Promise("dtype of data", "and the micro-batches.", SUMS, "float32_converts_the_list"),
            Promise("hooks", "No hook of yours is left on the model.", SUMS, "float32_leaves_hooks"),
            Promise(
                "clear",
                "it may hold anything when you are called.",
                ("ragged", "telling", "cancelling", "evaluation", "narrow", "tied"),
                "float32_first_holds_more",
            ),
            Promise("each", "with each micro-batch's gradient", SUMS, "float32_piles_up"),
            Promise("any model", MEAN, ("narrow",), "float32_squeezes_the_prediction"),
            Promise("shared", "the names of `model.named_parameters()`", ("tied",), "float32_both_names_of_a_shared_weight"),
            Promise("equal shapes", MEAN, ("tied",), "float32_one_sum_for_each_shape"),
        ),
        (
            "Write `accumulate_in_float32",
            "The model is in bfloat16",
            "600 micro-batches",
            "An error of 2%",
            "The gradient of the mean loss",
        ),
    ),
}
