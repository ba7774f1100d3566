"""What the texts of unit 11 demand, and which trial notices."""

from __future__ import annotations

from autograder.contract.promises import Promise, Promises

_WITH_A_CHECKPOINT = ("epochs", "again", "at once", "updates", "window", "saving")
_EVERYTHING = ("again", "at once", "updates")
_METERS = ("even", "uneven", "long")
_PLANS = tuple(f"plan {k}" for k in range(18))
_RANKED = tuple(f"ranks {k}" for k in range(7))

_SAME = "All its losses and the final parameters have to be the same, to the last bit, as those of a run that was never killed"
_AGAIN = "nothing before the last update may be trained on again."
_WHOLE = "Here it resumes from the new checkpoint or from the one before."
_NUMBERS = 'a new dictionary with the numbers `"loss"`, `"samples_per_second"`, `"effective_batch"` and `"lr"` of this window.'
_SPEED = "from the end of the previous window, or from when the meter was made, to this call of `update`."
_LARGEST = "the largest B on each rank that fits and with which the recipe's batch can be met exactly;"
_REFUSAL = "a `ValueError` with a reason, in any words, if not even one sample fits"

PROMISES = {
    "load_checkpoint": Promises(
        demands=(
            Promise(
                "in the folder",
                "it writes one to the file `path`, or to other files in the same folder",
                _WITH_A_CHECKPOINT,
                "checkpoint_in_the_working_folder",
            ),
            Promise(
                "no folders",
                "marking does not keep",
                _WITH_A_CHECKPOINT,
                "checkpoint_in_a_folder_of_its_own",
            ),
            Promise(
                "files",
                "The run is killed; only the files in the folder are left.",
                _WITH_A_CHECKPOINT,
                "checkpoint_position_in_the_file_states_in_memory",
            ),
            Promise("only reads", "It only reads the run.", _WITH_A_CHECKPOINT, "saving_clears_gradients"),
            Promise("draws nothing", "It only reads the run.", _EVERYTHING, "saving_draws_numbers"),
            Promise("restored", "It brings this run to where the checkpoint was made.", _WITH_A_CHECKPOINT, "nothing_restored"),
            Promise(
                "left alone",
                "If there is no checkpoint yet, it leaves the run alone.",
                ("start", "first window"),
                "expects_a_checkpoint",
            ),
            Promise(
                "left alone with everything",
                "the run with everything, killed before the first micro-batch.",
                ("start",),
                "seeds_anew_without_a_checkpoint",
            ),
            Promise("model", _SAME, _WITH_A_CHECKPOINT, "state_missing_model"),
            Promise("optimizer", _SAME, _WITH_A_CHECKPOINT, "state_missing_optimizer"),
            Promise("schedule", _SAME, _WITH_A_CHECKPOINT, "state_missing_schedule"),
            Promise("position", _SAME, _WITH_A_CHECKPOINT, "state_missing_position"),
            Promise("losses", _SAME, _WITH_A_CHECKPOINT, "loads_the_end_of_the_run"),
            Promise("random numbers", "dropout, another order in every epoch", _EVERYTHING, "state_missing_rng"),
            Promise("order", "another order in every epoch", _EVERYTHING, "state_missing_order"),
            Promise("shuffler", "another order in every epoch", _EVERYTHING, "state_missing_shuffler"),
            Promise("scaler", "a scale of the gradients that rises and falls.", _EVERYTHING, "state_missing_scaler"),
            Promise("every update", _AGAIN, ("again", "updates", "window", "saving"), "checkpoint_once_per_epoch"),
            Promise("not trained again", _AGAIN, _WITH_A_CHECKPOINT, "checkpoint_trains_again"),
            Promise(
                "killed again", "A resumed run may be killed, too.", ("again", "saving"), "checkpoint_numbered_by_a_counter"
            ),
            Promise("killed at once", "A resumed run may be killed, too.", ("at once",), "checkpoint_removed_after_loading"),
            Promise(
                "saves as before",
                "loads and trains on, and saves as before.",
                ("again", "saving"),
                "checkpoint_numbered_by_a_counter",
            ),
            Promise(
                "saves after a torn file",
                "loads and trains on, and saves as before.",
                ("saving",),
                "checkpoint_leftover_in_the_way",
            ),
            Promise(
                "in a window",
                "the simple run, killed after each micro-batch that does not end a window.",
                ("window", "first window", "saving", "at once"),
                "mid_window_checkpoint",
            ),
            Promise(
                "in the first window",
                "the simple run, killed after each micro-batch that does not end a window.",
                ("first window",),
                "checkpoint_always_when_there_is_none",
            ),
            Promise("torn file", "or with a file half written.", ("saving",), "checkpoint_overwritten"),
            Promise("between calls", "between two calls that it makes", ("saving",), "checkpoint_removed_before_it_is_renamed"),
            Promise("whole", _WHOLE, ("saving",), "checkpoint_moved_aside"),
        ),
        asks_nothing=(
            "Write two functions",
            "`save_checkpoint(path, run)` is called after every micro-batch.",
            "`load_checkpoint(path, run)` is called with",
            "`path` is a string",
            "`torch.save(something, path)` writes",
            "`os.path.exists(path)` says",
            "To try them out",
            "(In marking, the run that is killed",
            "`run = RunProblem().start()` builds",
            "`RunProblem(shuffled=False",
            "What earns points:",
            "it has no dropout",
            "Called after every micro-batch",
        ),
    ),
    "RunMeter": Promises(
        demands=(
            Promise("loss", "all samples count equally.", ("uneven",), "meter_loss_mean_of_means"),
            Promise("after backward", "called after each backward pass", _METERS, "meter_runs_backward"),
            Promise("unscaled", "*before* it was scaled", _METERS, "meter_loss_scaled"),
            Promise("this window", _NUMBERS, _METERS, "meter_loss_never_restarted"),
            Promise("new", _NUMBERS, _METERS, "meter_one_dictionary_for_all"),
            Promise("numbers", _NUMBERS, _METERS, "meter_reports_texts"),
            Promise("clock", "`clock()` says what time it is, in seconds.", _METERS, "meter_own_clock"),
            Promise("whole window", _SPEED, _METERS, "meter_throughput_without_update"),
            Promise("from its beginning", _SPEED, _METERS, "meter_throughput_without_first"),
            Promise("restarted", _SPEED, _METERS, "meter_clock_never_restarted"),
            Promise("samples", "with the number of its samples.", ("uneven",), "meter_nominal_size"),
            Promise("effective batch", "the samples the update averages over", _METERS, "meter_effective_batch_of_one"),
            Promise("ragged", "the samples the update averages over", ("uneven",), "meter_effective_batch_of_the_last_size"),
            Promise("rate", "called after each update with the rate it used", _METERS, "meter_zero_rate_replaced"),
            Promise("left alone", "Leave the loss as it is.", _METERS, "meter_scales_the_loss"),
            Promise("graphs", "no graph of the window is alive because of your meter.", _METERS, "meter_graph_kept"),
            Promise(
                "several",
                "There may be several meters at once, each with its own run.",
                _METERS,
                "meter_state_of_the_class",
            ),
            Promise("long windows", _NUMBERS, ("long",), "meter_of_sixteen_micro_batches"),
            Promise("this rank", "the samples the update averages over", _METERS, "meter_effective_batch_of_all_ranks"),
            Promise("clock at zero", _SPEED, ("long",), "meter_begins_late_at_zero"),
            Promise("own time", "each with its own run.", _METERS, "meter_begin_of_the_module"),
        ),
        asks_nothing=(
            "Write a class",
            "A loop tells it",
            "`RunMeter(clock)`: made right before",
            "More keys do no harm.",
            "Collects what happens",
        ),
    ),
    "plan_run": Promises(
        demands=(
            Promise("for a rank", "plan one rank's share as in unit 02.", _RANKED, "plan_for_one_rank"),
            Promise(
                "own budget",
                "Each rank has `memory_budget` bytes of its own",
                _RANKED,
                "plan_budget_divided",
            ),
            Promise(
                "fixed bytes",
                "a micro-batch of B samples needs `fixed + per_sample * B` of them.",
                (*_PLANS, *_RANKED, "refusal 0", "refusal 3", "refusal 4"),
                "plan_fixed_forgotten",
            ),
            Promise(
                "whole samples",
                "a micro-batch of B samples needs `fixed + per_sample * B` of them.",
                ("plan 12", "plan 13"),
                "plan_rounds_the_room",
            ),
            Promise("integers", "a dictionary with three integers, not `4.0`;", (*_PLANS, *_RANKED), "plan_steps_as_a_float"),
            Promise("largest", _LARGEST, (*_PLANS, *_RANKED), "plan_not_the_largest"),
            Promise("divides", _LARGEST, ("ranks 2", "ranks 3", "ranks 5", "ranks 6"), "plan_divides_recipe_only"),
            Promise(
                "one sample",
                _LARGEST,
                ("plan 6", "plan 7", "plan 11", "plan 15", "ranks 5", "ranks 6"),
                "plan_at_least_two_samples",
            ),
            Promise("steps", "the N that goes with it;", _RANKED, "plan_steps_for_one_rank"),
            Promise("many steps", "the N that goes with it;", ("plan 6", "plan 16"), "plan_thirty_two_steps_at_most"),
            Promise("effective batch", "B × N × W, which is the recipe's.", _RANKED, "plan_effective_batch_of_one_rank"),
            Promise("any steps", "N need not be a power of two", (*_PLANS, *_RANKED), "plan_powers_of_two"),
            Promise(
                "exactly", "a micro-batch that needs exactly the budget fits.", ("plan 3", "plan 11"), "plan_budget_not_used_up"
            ),
            Promise("misfit", _REFUSAL, ("refusal 0", "refusal 3", "refusal 4"), "plan_misfit_not_refused"),
            Promise(
                "uneven",
                "or if the ranks cannot share the recipe's batch evenly.",
                ("refusal 1", "refusal 2", "refusal 5"),
                "plan_uneven_not_refused",
            ),
            Promise(
                "uneven though all fits",
                "or if the ranks cannot share the recipe's batch evenly.",
                ("refusal 5",),
                "plan_uneven_refused_if_accumulating",
            ),
            Promise("large", "All arguments are positive whole numbers.", ("plan 14", "plan 16", "plan 17"), "plan_recursive"),
            Promise("whole numbers", "All arguments are positive whole numbers.", ("plan 13",), "plan_divides_floats"),
            Promise(
                "reason",
                "a `ValueError` with a reason, in any words",
                tuple(f"refusal {k}" for k in range(6)),
                "plan_refuses_without_a_reason",
            ),
        ),
        asks_nothing=(
            "Write `plan_run",
            '`"effective_batch"`:',
            "2 to 8 of them.",
            "Micro-batch size, accumulation steps",
        ),
    ),
}
