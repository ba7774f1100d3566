"""What the texts of unit 09 demand, and which trial notices."""

from __future__ import annotations

from autograder.contract.promises import Promise, Promises

_CLEAN = ("clean", "clean one", "clean unused", "clean overflowed")
_LEFT = ("encoders", "ragged", "single", *_CLEAN, "again", "memory")
_EVERY = (*_LEFT, "listed", "probe")
_SEVERAL = ("encoders", "ragged", "clean", "clean unused", "clean overflowed", "again", "memory")
_MANY = tuple(f"several {k}" for k in range(6))
_ONE = tuple(f"single {k}" for k in range(4))

_GRADIENT = "It leaves in `.grad` the gradient of `info_nce` over all pairs of all micro-batches, as if they were one batch"
_DISCARDED = "Whatever `.grad` held before, infinity included, is discarded in all three."
_BEHIND = "no hook or switched `requires_grad` is left behind: your function may be called again with the same encoders."
_NUMBER = "of the whole window, a number or a tensor with one number."
_PASSES = "until the window's gradients are complete;"
_BYTES = "the bytes of the features that the first pass keeps, of both encoders and the whole window."
_SINGLE = "the micro-batch *is* the batch, so there is one ordinary pass and no cache."

PROMISES = {
    "accumulate_contrastive": Promises(
        demands=(
            Promise("all pairs", _GRADIENT, _SEVERAL, "contrastive_local_negatives"),
            Promise("whole", _GRADIENT, _SEVERAL, "contrastive_window_loss_over_n"),
            Promise("every micro-batch", _GRADIENT, _SEVERAL, "contrastive_zero_every"),
            Promise("one micro-batch", "one or several, in a list.", ("single", "clean one"), "contrastive_needs_several"),
            Promise("loss", "and returns that loss.", ("encoders", "ragged", "single"), "contrastive_returns_nothing"),
            Promise("number", _NUMBER, ("encoders", "ragged", "single"), "contrastive_returns_a_text"),
            Promise("generator", "it may be a generator", ("ragged", "listed"), "contrastive_asks_for_the_length"),
            Promise("ragged", "of 1 to 5 pairs; both encoders again.", ("ragged",), "contrastive_equal_slices"),
            Promise(
                "unused",
                "unused parameters; the `.grad` of those may stay `None`.",
                ("ragged", "listed", "clean unused"),
                "contrastive_unused_parameters_not_expected",
            ),
            Promise("discarded", _DISCARDED, (*_CLEAN, "again"), "contrastive_stale_start"),
            Promise("in logit_scale", "in both encoders and in `logit_scale`.", (*_CLEAN, "again"), "contrastive_stale_scale"),
            Promise("infinity", _DISCARDED, ("clean overflowed",), "contrastive_clears_by_multiplying"),
            Promise("discarded for one", _DISCARDED, ("clean one",), "contrastive_one_keeps_old_gradients"),
            Promise("discarded everywhere", _DISCARDED, ("clean unused",), "contrastive_unused_keep_old_gradients"),
            Promise("again", _BEHIND, ("again",), "contrastive_features_kept_by_size"),
            Promise("inputs", "which have to stay as they are.", _LEFT, "contrastive_inputs_require_gradients"),
            Promise("unchanged", "No parameter changes", _LEFT, "contrastive_moves_the_parameters"),
            Promise("not clamped", "No parameter changes", ("single",), "contrastive_scale_clamped"),
            Promise("hooks", _BEHIND, _EVERY, "contrastive_hook_left_behind"),
            Promise("every hook", _BEHIND, _EVERY, "contrastive_forward_hooks_left_behind"),
            Promise("requires_grad", _BEHIND, _LEFT, "contrastive_requires_grad_left_off"),
            Promise("logit_scale's requires_grad", _BEHIND, _LEFT, "contrastive_temperature_left_frozen"),
            Promise("mode", "The encoders are in training mode and stay in it", _LEFT, "contrastive_eval_mode_left_behind"),
            Promise(
                "both passes",
                "in both passes: some of their layers act differently in evaluation mode.",
                _LEFT,
                "contrastive_cache_in_eval_mode",
            ),
            Promise("scale", "for both of these.", _SEVERAL, "contrastive_temperature_over_n"),
            Promise("graphs", "peak memory stays below four times", ("memory",), "contrastive_one_big_batch"),
        ),
        asks_nothing=(
            "Write `accumulate_contrastive",
            "`encode_image` and `encode_text` are modules",
            "`logit_scale` is a single parameter.",
            "Nothing in them is random",
            "Leave in .grad",
        ),
    ),
    "accumulation_cost": Promises(
        demands=(
            Promise("forwards", _PASSES, _MANY, "cost_first_pass_forgotten"),
            Promise("of two", "for several N above 1.", _MANY, "cost_two_are_one_pass"),
            Promise("bytes", _BYTES, _MANY, "cost_one_encoder"),
            Promise("whole window", _BYTES, _MANY, "cost_one_micro_batch"),
            Promise("dtype", "for several sizes, widths and dtypes.", _MANY, "cost_bfloat16_as_float32"),
            Promise("each call", "for several sizes, widths and dtypes.", ("several 4",), "cost_looked_up_without_dtype"),
            Promise("one sample", "for several sizes, widths and dtypes.", ("several 5",), "cost_one_sample_is_one_batch"),
            Promise("pair", "It returns two numbers, `(forwards, feature_bytes)`:", (*_MANY, *_ONE), "cost_turned_round"),
            Promise("single", _SINGLE, _ONE, "cost_second_pass_for_one"),
        ),
        asks_nothing=(
            "Write `accumulation_cost",
            "A feature vector has",
            "both numbers, for N = 1.",
            "Forward passes per sample",
        ),
    ),
}
