"""What the texts of this unit's exercises demand."""

from autograder.contract.promises import Promise, Promises

REPAIR, CUTS = ("training", "single", "cut"), ("cut", "cut leftover")
AT_RAGGED, AT_LEFTOVER = ("ragged", "together"), ("leftover", "together", "overflowed")
AT_EVERY_UPDATE = ("full", "memory", "leftover", "ragged", "stream", "together", "overflowed")

PROMISES = {
    "repaired_early_clear": Promises(
        (
            Promise("trains", "after each of two epochs the parameters are those of", REPAIR, "early_clear_unchanged"),
            Promise("in full", "after each of two epochs the parameters are those of", REPAIR, "early_clear_under_autocast"),
            Promise("N = 1", "N = 1 included", ("single",), "early_clear_not_for_one"),
            Promise("step", "Update by `optimizer.step()`, send", ("training", "single"), "early_clear_by_hand_with_momentum"),
            Promise("one by one", "send micro-batches through the model one by one", ("cut",), "early_clear_one_forward"),
            Promise("mode", "leave the model in training mode", REPAIR, "early_clear_evaluation_mode"),
            Promise("data", "the micro-batches as they are", REPAIR, "early_clear_changes_targets"),
            Promise("inputs", "the micro-batches as they are", ("training", "single"), "early_clear_inputs_want_gradients"),
        ),
        (
            "Write `early_clear` again",
            "Full windows",
            "What you return is ignored",
            "early_clear, repaired",
        ),
    ),
    "repaired_eager_step": Promises(
        (Promise("trains", "exactly as in exercise 1", REPAIR, "eager_step_unchanged"),),
        ("Write `eager_step` again", "eager_step, repaired"),
    ),
    "repaired_lost_tail": Promises(
        (
            Promise("trains", "as in exercise 1, but epochs may end with", ("training", *CUTS), "lost_tail_unchanged"),
            Promise("one by one", "as in exercise 1, but", CUTS, "lost_tail_one_forward"),
            Promise("leftover, too", "as in exercise 1, but", ("cut leftover",), "lost_tail_leftover_in_one_forward"),
            Promise("full epochs", "Some do not.", REPAIR, "lost_tail_steps_after_the_loop"),
            Promise("mean", "averaged over the micro-batches it has", ("training", CUTS[1]), "lost_tail_divided_by_n"),
            Promise("every leftover", "epochs may end with a leftover window", ("training", "single"), "lost_tail_of_one"),
        ),
        ("lost_tail, repaired",),
    ),
    "train_epoch": Promises(
        (
            Promise("one update", "one update for each window", ("full",), "steps_once_more"),
            Promise("mean", "the gradient of the mean loss over all samples of its window", AT_EVERY_UPDATE, "no_scale"),
            Promise("returned", "Return a list with the mean loss", ("losses", *AT_RAGGED, "single"), "losses_not_returned"),
            Promise("numbers", "for each window one number", ("losses", *AT_RAGGED, "single"), "losses_as_text"),
            Promise("mode", "in training mode; leave it there", ("full", "together"), "evaluation_mode_after_training"),
            Promise(
                "frozen", "Some of its parameters may be frozen or unused; leave them so", AT_RAGGED, "unfreezes_everything"
            ),
            Promise("no gradient", "Their `.grad` may stay `None`", AT_RAGGED, "divides_every_gradient"),
            Promise(
                "arguments", "`loss_fn(prediction, target)`", (*AT_EVERY_UPDATE, "single", "losses"), "swapped_loss_arguments"
            ),
            Promise("loss", "a mean over the samples of its batch", (*AT_EVERY_UPDATE, "single", "losses"), "loss_of_its_own"),
            Promise("groups", "perhaps with several parameter groups", ("overflowed",), "clears_first_group"),
            Promise("their rates", "perhaps with several parameter groups", ("overflowed",), "one_rate_for_all_groups"),
            Promise("step", "Update by `optimizer.step()`", ("full", "clean", "losses", "overflowed"), "updates_by_hand"),
            Promise("data", "leave them as they are", ("full",), "empties_the_list"),
            Promise("stream", "a stream that can be read only once", ("stream", "together"), "needs_a_length"),
            Promise("fetch", "you may have fetched its window and the next one, but no more", ("stream",), "epoch_prefetched"),
            Promise("N = 1", "N, at least 1", ("single",), "no_window_of_one"),
            Promise("N = 1, like others", "N, at least 1", ("single",), "shortcut_for_one"),
            Promise("memory", "peak memory stays below nine times", ("memory",), "one_big_batch_summed_losses"),
            Promise("leftover", "It is applied, and averaged over", AT_LEFTOVER, "tail_dropped_but_reported"),
            Promise("leftover mean", "averaged over the samples it has", AT_LEFTOVER, "tail_scale"),
            Promise(
                "short epoch",
                "even when the whole epoch is shorter than one window",
                AT_LEFTOVER,
                "short_epoch_no_step",
            ),
            Promise(
                "single samples", "all samples of a window count equally", (*AT_RAGGED, "losses"), "leaves_out_single_samples"
            ),
            Promise("ragged", "all samples of a window count equally", AT_RAGGED, "mean_of_means"),
            Promise("everything", "also tried on a stream with all these difficulties", ("together",), "leftover_not_weighted"),
            Promise("start", "None of it joins an update", ("single", "clean", "together", "overflowed"), "stale_start"),
            Promise("infinity", "infinity included", ("overflowed",), "clears_by_multiplying"),
            Promise("infinity applied", "infinity included", ("overflowed",), "skips_window_of_infinity"),
            Promise("unused start", "may hold anything when you are called", ("together",), "stale_gradient_of_unused"),
            Promise(
                "end",
                "nothing of one epoch joins an update of the next",
                ("full", "single", "leftover", "clean", "together", "overflowed"),
                "gradient_of_last_epoch_kept",
            ),
            Promise(
                "reported", "as your forwards computed it before the update", (*AT_RAGGED, "single"), "losses_after_the_update"
            ),
            Promise("reported mean", "There are leftovers and ragged sizes.", ("losses", *AT_RAGGED), "loss_mean_of_means"),
        ),
        (
            "Now the whole thing",
            "You are given",
            "It has momentum only where all windows are full",
            "equal micro-batches, and N divides their number.",
            "the last window has fewer micro-batches.",
            "The model has a frozen and an unused parameter.",
            "an iterator without a length",
            "The first four compare",
            "Train for one epoch",
        ),
    ),
    "name_that_loop": Promises(
        (
            Promise("dictionary", "Return a dictionary from letters to names", ("answers",), "name_that_loop_list"),
            Promise("all three", "all three right", ("answers",), "name_that_loop_half"),
        ),
        (
            "Six loops have lost their names",
            "Below their fingerprints",
            "Some are not in the picture",
            "`b` counts as",
            "The data:",
            "For each letter",
        ),
    ),
}
