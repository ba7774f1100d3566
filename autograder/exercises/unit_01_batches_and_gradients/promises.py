"""What the texts of this unit's exercises demand."""

from autograder.contract.promises import Promise, Promises

GRADIENTS = (
    *("gradient", "frozen", "untouched", "one", "alone", "adding", "narrow", "mixed", "again", "overflowed", "tied"),
    "dropping",
)
SECOND = ("again",)
MIXED = ("mixed",)
EXTRAS = ("frozen", "overflowed")
SEVERAL = (
    *("mean", "summed", "untouched", "adding in evaluation", "mixed", "again", "overflowed", "repeated", "hinged", "dropping"),
    "narrow",
)
AVERAGES = (*SEVERAL, "one", "alone")
UPDATES = (
    *("update", "frozen", "evaluating", "one", "alone", "adding", "narrow", "mixed", "again", "tied", "overflowed", "steep"),
    "dropping",
)
LOSSES = ("loss", "evaluating", "one", "alone", "adding", "mixed", "again")
EVERY_UPDATE = (*UPDATES, "clean", "clean probe", "loss", "clean extras")

PROMISES = {
    "batch_gradient": Promises(
        (
            Promise("dictionary", "it returns a dictionary from the names", GRADIENTS, "batch_gradient_as_a_list"),
            Promise("shape", "a tensor of the parameter's shape", GRADIENTS, "batch_gradient_transposed"),
            Promise("dtype", "shape and dtype", GRADIENTS, "batch_gradient_in_float32"),
            Promise("arguments", "takes the prediction first", GRADIENTS, "batch_gradient_swapped_loss_arguments"),
            Promise("gradient", "every trainable parameter has its gradient", GRADIENTS, "batch_gradient_sum_over_samples"),
            Promise(
                "any model",
                "the gradient of `loss_fn(model(x), y)`",
                ("narrow", "one"),
                "batch_gradient_squeezes_the_prediction",
            ),
            Promise("one pass", "the gradient of `loss_fn(model(x), y)`", ("dropping",), "batch_gradient_of_two_passes"),
            Promise("any loss", "the gradient of `loss_fn(model(x), y)`", ("adding",), "batch_gradient_averages_over_samples"),
            Promise("rows", "the gradient of `loss_fn(model(x), y)`", ("one",), "batch_gradient_squeezes_a_single_sample"),
            Promise(
                "any names", "a frozen parameter is not in the dictionary", ("overflowed",), "batch_gradient_by_known_names"
            ),
            Promise("outside of layers", "from the names in", ("overflowed",), "batch_gradient_of_layers"),
            Promise("other dtypes", "shape and dtype", ("narrow",), "batch_gradient_under_autocast"),
            Promise("one sample's mean", "even for a batch of one sample", ("alone",), "batch_gradient_single_sample_twice"),
            Promise("one sample", "even for a batch of one sample", ("one", "alone"), "batch_gradient_needs_several_samples"),
            Promise("zero", "every trainable parameter has its gradient", ("one",), "batch_gradient_without_zeros"),
            Promise("shared", "every trainable parameter has its gradient", ("tied",), "batch_gradient_of_one_use"),
            Promise("frozen", "a frozen parameter is not in the dictionary", EXTRAS, "batch_gradient_zeros_for_frozen"),
            Promise(
                "frozen, with .grad",
                "a frozen parameter is not in the dictionary",
                ("overflowed",),
                "batch_gradient_of_what_has_a_gradient",
            ),
            Promise("unused", "An unused one may be left out", EXTRAS, "batch_gradient_unused_not_allowed"),
            Promise("parameters", "to the last bit", GRADIENTS, "batch_gradient_also_updates"),
            Promise("requires_grad", "as do `requires_grad`, `x` and `y`", EXTRAS, "batch_gradient_thaws_everything"),
            Promise("data", "`requires_grad`, `x` and `y`", GRADIENTS, "batch_gradient_clears_the_inputs"),
            Promise("data's requires_grad", "`requires_grad`, `x` and `y`", GRADIENTS, "batch_gradient_wants_a_gradient_for_x"),
            Promise("another batch", "Each call takes the gradient anew", SECOND, "batch_gradient_cached_by_model"),
            Promise("same arguments", "Each call takes the gradient anew", SECOND, "batch_gradient_cached_by_arguments"),
            Promise("hooks", "No hook and no attribute stays on the model", GRADIENTS, "batch_gradient_forgets_its_hooks"),
            Promise("seed", "you do not seed torch", GRADIENTS, "batch_gradient_seeds"),
            Promise("seed put back", "you do not seed torch", SECOND, "batch_gradient_seeds_and_puts_back"),
            Promise("infinity", "infinity included", ("overflowed",), "batch_gradient_minus_the_old_one"),
            Promise(
                "all of .grad",
                "Before the call `.grad` may hold anything",
                ("overflowed",),
                "batch_gradient_gives_back_what_was_used",
            ),
            Promise("layers' modes", "and each of its layers", MIXED, "batch_gradient_one_mode_for_all_layers"),
            Promise("stale", "none of it may be in what you return", GRADIENTS, "batch_gradient_on_top_of_the_old_one"),
            Promise(
                "grad",
                "Before the call `.grad` may hold anything",
                ("untouched", "overflowed"),
                "batch_gradient_cleared_afterwards",
            ),
            Promise(
                "mode", "take the gradient in the mode you find", ("untouched", "mixed"), "batch_gradient_in_training_mode"
            ),
        ),
        ("Write `batch_gradient", "Gradient of the batch loss", "Changes nothing."),
    ),
    "average_sample_gradients": Promises(
        (
            Promise("shape", "a dictionary like that of", ("narrow",), "average_sample_gradients_squeezed"),
            Promise("arguments", "the gradient of its own loss", AVERAGES, "average_sample_gradients_swapped_loss_arguments"),
            Promise(
                "average",
                "the average of these gradients",
                SEVERAL,
                "average_sample_gradients_sum",
            ),
            Promise("every sample", "for every sample", AVERAGES, "average_sample_gradients_without_the_last"),
            Promise("own loss", "the gradient of its own loss", ("dropping",), "average_sample_gradients_scaled_by_losses"),
            Promise("repeats", "for every sample", ("repeated",), "average_sample_gradients_without_repeats"),
            Promise("samples without loss", "for every sample", ("hinged",), "average_sample_gradients_of_samples_with_a_loss"),
            Promise("one sample", "even for a batch of one sample", ("one", "alone"), "average_sample_gradients_of_several"),
            Promise(
                "summed",
                "the gradient of the batch will not do",
                ("summed", "adding in evaluation"),
                "average_sample_gradients_whole_batch",
            ),
            Promise(
                "rows",
                "`loss_fn(model(x[i : i + 1]), y[i : i + 1])`",
                ("summed", "adding in evaluation", "alone"),
                "average_sample_gradients_without_rows",
            ),
            Promise(
                "chance",
                "may draw random numbers",
                ("mean", "one", "alone", "mixed", "again", "dropping"),
                "average_sample_gradients_vmap_without_chance",
            ),
            Promise(
                "new numbers",
                "new ones for every sample",
                ("mean", "mixed", "again", "dropping"),
                "average_sample_gradients_with_one_mask",
            ),
            Promise(
                "vmap's numbers",
                "new ones for every sample",
                ("mean", "mixed", "again", "dropping"),
                "average_sample_gradients_vmap_with_one_mask",
            ),
            Promise("settings", "as in exercise 1", AVERAGES, "average_sample_gradients_dropout_off"),
            Promise("untouched", "as in exercise 1", AVERAGES, "average_sample_gradients_accumulated_in_grad"),
        ),
        (
            "Write `average_sample_gradients",
            "You may call",
            "Models here have",
            "Neither speed",
            "Average of the gradients",
            "Changes nothing.",
        ),
    ),
    "sgd_step": Promises(
        (
            Promise(
                "arguments",
                "the gradient of `loss_fn(model(x), y)`",
                (*UPDATES, "loss"),
                "sgd_step_swapped_loss_arguments",
            ),
            Promise(
                "in place", "update of the model's own parameters", (*UPDATES, "clean", "clean extras"), "sgd_step_rebinds"
            ),
            Promise("own", "update of the model's own parameters", UPDATES, "sgd_step_new_parameters"),
            Promise("rate", "has moved by minus `lr` times its gradient", UPDATES, "sgd_step_without_rate"),
            Promise("down", "has moved by minus", UPDATES, "sgd_step_uphill"),
            Promise("any rate", "has moved by minus `lr` times its gradient", ("steep",), "sgd_step_until_the_loss_falls"),
            Promise(
                "any model", "the gradient of `loss_fn(model(x), y)`", ("narrow", "one"), "sgd_step_squeezes_the_prediction"
            ),
            Promise("one pass", "the gradient of `loss_fn(model(x), y)`", ("dropping",), "sgd_step_of_two_passes"),
            Promise("any loss", "the gradient of `loss_fn(model(x), y)`", ("adding",), "sgd_step_backward_in_shares"),
            Promise("loss of any loss_fn", "that of the whole batch", ("adding",), "sgd_step_loss_averaged_over_samples"),
            Promise("rows", "the gradient of `loss_fn(model(x), y)`", ("one",), "sgd_step_squeezes_a_single_sample"),
            Promise(
                "any names",
                "these parameters do not move, and nothing breaks",
                ("frozen", "clean extras"),
                "sgd_step_by_known_names",
            ),
            Promise("one sample", "for a batch of one sample, and", ("one", "alone"), "sgd_step_of_several"),
            Promise("second call", "in a second call", SECOND, "sgd_step_momentum_between_calls"),
            Promise("other rate", "in a second call with another `lr`", SECOND, "sgd_step_first_rate_stays"),
            Promise("attached", "No hook and no attribute stays", EVERY_UPDATE, "sgd_step_keeps_its_optimizer"),
            Promise("data", "`x` and `y` stay as they are", EVERY_UPDATE, "sgd_step_centres_the_inputs_and_back"),
            Promise("seed", "you do not seed torch", EVERY_UPDATE, "sgd_step_seeds"),
            Promise("shared", "even one that two layers share", ("tied",), "sgd_step_layer_by_layer"),
            Promise("outside of layers", "of the model's own parameters", ("frozen",), "sgd_step_of_children"),
            Promise("infinity", "infinity included", ("overflowed",), "sgd_step_clears_by_multiplying"),
            Promise("mode", "The model is in the mode it was in", ("evaluating", "mixed"), "sgd_step_train_first"),
            Promise("frozen", "these parameters do not move, and nothing breaks", ("frozen",), "sgd_step_thaws_everything"),
            Promise("before", "none of it joins in", ("clean", "clean extras", "overflowed"), "sgd_step_clears_after"),
            Promise(
                "before, frozen",
                "`.grad` of any parameter",
                ("clean extras",),
                "sgd_step_clears_what_is_trainable_and_moves_the_rest",
            ),
            Promise("after", "is `None` or zero", ("clean", "clean extras"), "sgd_step_clears_before"),
            Promise("after, unused", "used or unused", ("clean extras",), "sgd_step_leaves_what_is_unused"),
            Promise("loss", "returns the loss of the batch before the update", LOSSES, "sgd_step_loss_after"),
            Promise("number", "as a number", LOSSES, "sgd_step_loss_in_words"),
            Promise(
                "loss's mode",
                "at the parameters and in the mode you were given",
                ("loss", "one", "alone", "mixed", "again"),
                "sgd_step_loss_in_eval_mode",
            ),
            Promise(
                "settings",
                "at the parameters and in the mode you were given",
                ("update", "loss", "one", "alone", "mixed", "again", "dropping"),
                "sgd_step_dropout_without_chance",
            ),
            Promise("loss in evaluation", "in the mode you were given", ("evaluating",), "sgd_step_loss_in_training_mode"),
            Promise("loss at every call", "at the parameters", ("again",), "sgd_step_returns_a_running_mean"),
        ),
        ("One plain SGD update", "No old gradient"),
    ),
}
