"""What the exercises of unit 07 demand, and the trials that notice."""

from __future__ import annotations

from autograder.contract.promises import Promise, Promises

MODELS = ("flat", "deep", "conv", "double", "none")
ANSWERS = ("answers", "again")
CALLS = tuple(f"call {k}" for k in range(8))
REPLACED = "every `nn.BatchNorm1d` and `nn.BatchNorm2d`, at any depth"
EVERYTHING_ELSE = (
    "Everything else stays as it was, including related layers such as `nn.BatchNorm3d` or `nn.InstanceNorm2d`; "
    "a frozen parameter of another layer stays frozen, and a shared one stays shared."
)
KEPT = "Each GroupNorm keeps the affine `weight` and `bias` of its BatchNorm, in their dtype and on their device."
UNTOUCHED = (
    "The given model stays untouched, and the result shares no parameter, `.grad` or buffer with it, even if there was no "
    "BatchNorm to replace."
)
MODES = "All parts of the given model are in one mode (`model.training`); leave both models in it."
TWELVE = "if the ends of the two runs differ by more than rounding, `False` if they end in the same place."

PROMISES = {
    "replace_batchnorm": Promises(
        (
            Promise("model", "It returns a model", MODELS, "replace_batchnorm_returns_nothing"),
            Promise("1d", REPLACED, MODELS, "replace_batchnorm_only_2d"),
            Promise("2d", REPLACED, ("conv",), "replace_batchnorm_only_1d"),
            Promise("any depth", REPLACED, MODELS, "replace_batchnorm_shallow"),
            Promise("frozen norms", REPLACED, ("deep",), "replace_batchnorm_leaves_frozen_norms"),
            Promise("depth of a list", REPLACED, ("deep",), "replace_batchnorm_misses_lists"),
            Promise("below parameters", REPLACED, ("deep",), "replace_batchnorm_not_below_parameters"),
            Promise("no layer", REPLACED, ("deep",), "replace_batchnorm_fails_at_none"),
            Promise("group norm", "has become an `nn.GroupNorm(num_groups, channels)`.", MODELS, "replace_batchnorm_layernorm"),
            Promise("each call", "It returns a model", MODELS, "replace_batchnorm_looked_up_by_groups"),
            Promise("own copy", "It returns a model", MODELS, "replace_batchnorm_same_copy_again"),
            Promise(
                "nothing else in it",
                "has become an `nn.GroupNorm(num_groups, channels)`.",
                MODELS,
                "replace_batchnorm_statistics_stay",
            ),
            Promise("groups", "has become an `nn.GroupNorm(num_groups, channels)`.", MODELS, "replace_batchnorm_group_size"),
            Promise("everything else", EVERYTHING_ELSE, MODELS, "replace_batchnorm_all_norms"),
            Promise("names", EVERYTHING_ELSE, ("conv",), "replace_batchnorm_renames"),
            Promise("settings", EVERYTHING_ELSE, ("flat",), "replace_batchnorm_no_activation_in_place"),
            Promise("relatives", EVERYTHING_ELSE, ("conv",), "replace_batchnorm_relatives"),
            Promise("other dtypes", EVERYTHING_ELSE, ("double",), "replace_batchnorm_one_dtype_for_all"),
            Promise("shared", EVERYTHING_ELSE, ("deep",), "replace_batchnorm_unties"),
            Promise("frozen", EVERYTHING_ELSE, MODELS, "replace_batchnorm_thaws"),
            Promise("weight", KEPT, MODELS, "replace_batchnorm_loses_affine"),
            Promise("bias", KEPT, MODELS, "replace_batchnorm_loses_bias"),
            Promise("no digit lost", KEPT, ("double",), "replace_batchnorm_by_way_of_float32"),
            Promise("dtype", KEPT, ("double",), "replace_batchnorm_float32_weights"),
            Promise("own dtype", KEPT, ("double",), "replace_batchnorm_dtype_of_the_first"),
            Promise("no affine", "becomes a GroupNorm without them.", ("double",), "replace_batchnorm_always_affine"),
            Promise("without statistics", REPLACED, ("conv",), "replace_batchnorm_leaves_what_has_no_statistics"),
            Promise("all without affine", REPLACED, ("double",), "replace_batchnorm_leaves_what_has_no_weights"),
            Promise(
                "group norm without affine",
                "has become an `nn.GroupNorm(num_groups, channels)`.",
                ("double",),
                "replace_batchnorm_nothing_without_weights",
            ),
            Promise(
                "groups without affine",
                "has become an `nn.GroupNorm(num_groups, channels)`.",
                ("double",),
                "replace_batchnorm_one_group_without_weights",
            ),
            Promise(
                "channels",
                "has become an `nn.GroupNorm(num_groups, channels)`.",
                ("conv",),
                "replace_batchnorm_channels_of_the_first",
            ),
            Promise("attributes of the given model", UNTOUCHED, MODELS, "replace_batchnorm_marks_the_given_model"),
            Promise("buffers not shared", UNTOUCHED, ("conv",), "replace_batchnorm_shares_buffers"),
            Promise("gradients not shared", UNTOUCHED, MODELS, "replace_batchnorm_shares_gradients"),
            Promise("untouched", UNTOUCHED, MODELS, "replace_batchnorm_in_place"),
            Promise("untouched without affine", UNTOUCHED, ("double",), "replace_batchnorm_changes_the_given_without_weights"),
            Promise("dtype of the given model", UNTOUCHED, MODELS, "replace_batchnorm_leaves_the_given_in_float64"),
            Promise("gradients of the given model", UNTOUCHED, MODELS, "replace_batchnorm_clears_gradients"),
            Promise("not shared", UNTOUCHED, MODELS, "replace_batchnorm_shares_parameters"),
            Promise("none", UNTOUCHED, ("none",), "replace_batchnorm_returns_what_has_none"),
            Promise("given mode", MODES, MODELS, "replace_batchnorm_evaluates_both"),
            Promise("mode", MODES, MODELS, "replace_batchnorm_eval_mode"),
            Promise("mode of parts", MODES, ("deep",), "replace_batchnorm_parts_in_another_mode"),
            Promise(
                "gradients", "those of the result, over four micro-batches of three.", MODELS, "replace_batchnorm_frozen_affine"
            ),
        ),
        (
            "Write `replace_batchnorm",
            "the layers at each path",
            "even in models that mix",
            "layers, values, `.grad`, mode",
            "A GroupNorm works the same in either",
            "The model itself is never",
            "A copy of the model",
        ),
    ),
    "matched_bn_momentum": Promises(
        (
            Promise("formula", "as one pass with `momentum` does.", CALLS, "matched_bn_momentum_power"),
            Promise("N = 1", "and several N, including 1", ("call 0", "call 7"), "matched_bn_momentum_not_for_one"),
            Promise(
                "any momentum for one",
                "and several N, including 1",
                ("call 0", "call 7"),
                "matched_bn_momentum_default_for_one",
            ),
            Promise("any N", "the momentum with which N passes leave", CALLS[4:], "matched_bn_momentum_few_passes_only"),
            Promise("any momentum", "several momenta between 0 and 1", ("call 3",), "matched_bn_momentum_small_only"),
            Promise("small momenta", "several momenta between 0 and 1", ("call 1",), "matched_bn_momentum_large_only"),
            Promise("large momenta", "several momenta between 0 and 1", ("call 7",), "matched_bn_momentum_capped"),
            Promise("each call", "several momenta between 0 and 1", ("call 6", "call 7"), "matched_bn_momentum_looked_up_by_n"),
            Promise("number", "to five digits or decimals; float32 is enough.", CALLS, "matched_bn_momentum_as_text"),
        ),
        ("Write `matched_bn_momentum", "The momentum whose N passes"),
    ),
    "matched_beta": Promises(
        (
            Promise("formula", "leaves as much of it as the recipe's N did.", CALLS, "matched_beta_root"),
            Promise("N = 1", "and several N, including 1", ("call 0", "call 7"), "matched_beta_not_for_one"),
            Promise("any N", "leaves as much of it as the recipe's N did.", CALLS[4:], "matched_beta_few_updates_only"),
            Promise("any beta", "several β between 0 and 1", CALLS, "matched_beta_first_order"),
            Promise("large beta", "several β between 0 and 1", ("call 7",), "matched_beta_capped"),
            Promise("small result", "several β between 0 and 1", ("call 3",), "matched_beta_floored"),
            Promise("each call", "several β between 0 and 1", ("call 6", "call 7"), "matched_beta_looked_up_by_n"),
            Promise("number", "to five digits or decimals; float32 is enough.", CALLS, "matched_beta_as_text"),
        ),
        (
            "A recipe updates",
            "You now accumulate",
            "Whatever was in",
            "Write `matched_beta",
            "Counted in samples",
            "The momentum that forgets",
        ),
    ),
    "breaks_equivalence": Promises(
        (
            Promise("truth", TWELVE, ANSWERS, "breaks_equivalence_trusts_the_loss"),
            Promise("layers", TWELVE, ANSWERS, "breaks_equivalence_blames_every_norm"),
            Promise("updates", TWELVE, ANSWERS, "breaks_equivalence_blames_optimizers"),
            Promise("twelve", "a dictionary with these twelve names as keys", ANSWERS, "breaks_equivalence_forgets_some"),
            Promise("truth values", "and for each `True`", ANSWERS, "breaks_equivalence_words"),
            Promise("each call", "It returns a dictionary", ("again",), "breaks_equivalence_names_used_up"),
            Promise("again", "It returns a dictionary", ("again",), "breaks_equivalence_names_run_out"),
            Promise("components", "Leave `COMPONENTS` as it is.", ANSWERS, "breaks_equivalence_writes_into_components"),
        ),
        (
            "Below are twelve",
            "With each, a small model",
            "Write `breaks_equivalence",
            "The check does not look the answer up",
            "You may run",
            "`linear` to",
            "`momentum` to",
            "`clip-per-window` to",
            "For each component",
        ),
    ),
}
