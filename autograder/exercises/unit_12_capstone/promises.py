"""What the texts of unit 12 demand, and which trial notices."""

from __future__ import annotations

from autograder.contract.promises import Promise, Promises

_FITS = ("fits 1", "fits 2", "fits 3", "fits 4")
_LARGEST = ("largest 1", "largest 2", "largest 3", "largest 4", "largest 5")
_WINDOWS = ("full", "uneven", "clip", "schedule", "single", "leftover schedule", "nan")
_STOPPING = ("resume", "leftover")
_RUNS = ("even", "uneven", "clipped leftover", "budget", *_STOPPING)

_SIZE = "the largest number of lines, an integer, that divides `config.effective_batch`"
_WORST = "whose worst case needs at most `config.budget` bytes"
_REFUSAL = "If not even one line fits, raise a `ValueError` with a reason."
_MEAN = "The gradient has to be that of the loss averaged over all tokens of the window, as if its lines were one large batch"
_AS_THEY_ARE = "Leave the list and the micro-batches as they are"
_EPOCHS = "and train on each, including the leftover at the epoch's end."
_STOP = (
    "once the history holds that many updates, counted from the very start, write `config.checkpoint` and return the history."
)
_GOING_ON = "If it exists when `train` is called, continue from it"
_OBEYS = "`max_norm` may differ, and the file may be elsewhere."
_STOPS = "goes on from the moved file, stops once more and goes on to its end, each time in a new process."

PROMISES = {
    "pick_micro_batch_size": Promises(
        demands=(
            Promise("divides", _SIZE, (*_FITS, *_LARGEST, "refuse"), "pick_no_divisor"),
            Promise("integer", _SIZE, (*_FITS, *_LARGEST), "pick_returns_a_float"),
            Promise("root", _SIZE, ("largest 5",), "pick_divisors_without_the_root"),
            Promise("largest", _SIZE, (*_FITS, *_LARGEST, "refuse"), "pick_always_one"),
            Promise("worst case", _WORST, (*_FITS, *_LARGEST, "refuse"), "pick_measures_the_first"),
            Promise("every epoch", _WORST, ("fits 2", "fits 3"), "pick_measures_an_epoch"),
            Promise("measured", "measured with `activation_bytes`.", ("fits 3",), "pick_extrapolates"),
            Promise("one line", "measured with `activation_bytes`.", ("refuse",), "pick_extrapolates_from_two"),
            Promise(
                "own size",
                "The current value of `config.micro_batch_size` does not matter.",
                (*_FITS, *_LARGEST),
                "pick_up_to_its_own_size",
            ),
            Promise("refusal", _REFUSAL, ("refuse",), "pick_none_when_nothing_fits"),
            Promise(
                "by a byte",
                "budgets that the next larger size exceeds by one byte.",
                (*_FITS, *_LARGEST, "refuse"),
                "pick_whole_window",
            ),
            Promise("last byte", "budgets that are used up to the last byte", _LARGEST, "pick_leaves_a_byte"),
            Promise("only then", "and only then.", (*_FITS, *_LARGEST), "pick_refuses_everything"),
        ),
        asks_nothing=("Write `pick_micro_batch_size", "The largest number of lines that divides"),
    ),
    "train_window": Promises(
        demands=(
            Promise("all tokens", _MEAN, ("uneven",), "window_mean_of_means"),
            Promise("single lines", _MEAN, ("uneven",), "window_leaves_out_single_lines"),
            Promise("mean", _MEAN, _WINDOWS, "window_no_scale"),
            Promise("all micro-batches", _MEAN, _WINDOWS, "window_zero_every"),
            Promise(
                "single", "`window` is a list of micro-batches `(x, y)`.", ("single", "leftover schedule"), "window_needs_two"
            ),
            Promise("clip", "Clip it once", ("clip", "leftover schedule"), "window_clips_each"),
            Promise("threshold", "the threshold is reached.", ("clip", "leftover schedule"), "window_never_clips"),
            Promise("update", "let the optimizer make its update", _WINDOWS, "window_never_steps"),
            Promise(
                "schedule", "let the schedule make its step.", ("schedule", "leftover schedule"), "window_schedule_forgotten"
            ),
            Promise(
                "clipped or not",
                "let the schedule make its step.",
                ("leftover schedule",),
                "window_schedule_where_not_clipped",
            ),
            Promise("every update", "let the schedule make its step.", ("leftover schedule",), "window_schedule_not_for_one"),
            Promise(
                "leftovers, too", "let the schedule make its step.", ("leftover schedule",), "window_schedule_of_full_windows"
            ),
            Promise(
                "per update", "a warmup and a cosine.", ("schedule", "leftover schedule"), "window_schedule_per_micro_batch"
            ),
            Promise("loss", "the mean over the window's tokens", ("uneven",), "window_reports_mean_of_means"),
            Promise("before", "at the weights before the update;", _WINDOWS, "window_reports_the_loss_after"),
            Promise("norm", "`norm`: that of the gradient before clipping;", ("clip",), "window_reports_the_clipped_norm"),
            Promise("rate", "read in time;", ("schedule",), "window_reports_the_next_rate"),
            Promise("tokens", "those of the window, padding not counted.", ("uneven",), "window_reports_places"),
            Promise("mode", "Leave the model in training mode.", _WINDOWS, "window_leaves_eval_mode"),
            Promise("list", _AS_THEY_ARE, _WINDOWS, "window_empties_its_list"),
            Promise("data", _AS_THEY_ARE, ("uneven", "single"), "window_overwrites_padding"),
            Promise("digits", "compute in the model's full precision.", _WINDOWS, "window_under_autocast"),
            Promise(
                "digits of the shares",
                "compute in the model's full precision.",
                ("full", "uneven"),
                "window_shares_in_float32",
            ),
            Promise("digits of the loss", "compute in the model's full precision.", _WINDOWS, "window_loss_in_float32"),
            Promise("nan", "`.grad` may hold anything before the first window", ("nan",), "window_clears_by_multiplying"),
            Promise(
                "stale",
                "`.grad` may hold anything before the first window",
                ("full", "uneven", "nan"),
                "window_clears_only_after",
            ),
        ),
        asks_nothing=(
            "Write `train_window",
            "Then record in",
            "What you return does not matter.",
            "the same with lines of any length.",
            "the history of all of these.",
            "The first four compare",
            "If the weights are wrong",
            "One update for a window",
        ),
    ),
    "train": Promises(
        demands=(
            Promise("windows", _EPOCHS, ("uneven", "clipped leftover", "leftover"), "train_tail_dropped"),
            Promise("epochs", _EPOCHS, ("even", "uneven", *_STOPPING), "train_same_order"),
            Promise("history", "to the `History` it returns.", _RUNS, "train_returns_nothing"),
            Promise("threshold", "with `config.max_norm`.", ("even", "resume", "clipped leftover"), "train_clips_at_n_times"),
            Promise("threshold of leftovers", "with `config.max_norm`.", ("clipped leftover",), "train_lowers_it_in_leftovers"),
            Promise("size", "Take `config.micro_batch_size` as it is", ("budget",), "train_picks_its_size"),
            Promise("digits", "Compute in the model's full precision.", _RUNS, "train_under_autocast"),
            Promise("digits of the file", "Compute in the model's full precision.", ("leftover",), "train_saves_in_float32"),
            Promise("dtype", "Compute in the model's full precision.", _RUNS, "train_in_float32"),
            Promise("go on", _GOING_ON, _STOPPING, "train_starts_over"),
            Promise("not trained again", _GOING_ON, _STOPPING, "train_trains_again"),
            Promise("loaded once", _GOING_ON, ("resume",), "train_loads_in_every_epoch"),
            Promise("at a stop", "Write the file only at a stop.", ("uneven", *_STOPPING), "train_overwrites_the_file"),
            Promise("no file", "Write the file only at a stop.", ("uneven",), "train_saves_without_a_stop"),
            Promise("stop", _STOP, _STOPPING, "train_never_stops"),
            Promise("write", _STOP, _STOPPING, "train_never_saves"),
            Promise("from the start", _STOP, _STOPPING, "train_counts_stops_anew"),
            Promise("new threshold", _OBEYS, ("resume",), "train_saves_its_threshold"),
            Promise("new path", _OBEYS, _STOPPING, "train_saves_to_the_first_path"),
            Promise("whole history", "including those before the stop.", _STOPPING, "train_keeps_no_history"),
            Promise("large batches", "the whole thing, with AdamW.", ("uneven",), "train_mean_of_means"),
            Promise(
                "bytes", "the bytes of all tensors that your run makes are counted.", ("budget",), "train_keeps_all_graphs"
            ),
            Promise(
                "in every update",
                "the bytes of all tensors that your run makes are counted.",
                ("budget",),
                "train_keeps_every_snapshot",
            ),
            Promise("one at a time", "go through the model one at a time.", ("budget",), "train_one_large_batch"),
            Promise("process", _STOPS, _STOPPING, "train_keeps_states_in_memory"),
            Promise("at a leftover", "a stop at a leftover", ("leftover",), "train_stops_at_full_windows_only"),
            Promise("third epoch", "and one in the third epoch", ("leftover",), "train_counts_full_windows_per_epoch"),
            Promise("second stop", _STOPS, _STOPPING, "train_saves_only_where_no_file_is"),
            Promise("honest", "the four numbers of every update", ("even", "resume"), "train_reports_the_clipped_norm"),
        ),
        asks_nothing=(
            "Two more settings",
            "Both may be `None`",
            "`config.checkpoint` is the path",
            "An existing file holds fewer updates than that",
            "lines of one length, two epochs.",
            "A resumed run obeys the config it is resumed with",
            "The budget of this part",
            "The first four compare",
            "Train, stop and resume as the config says",
        ),
    ),
}
