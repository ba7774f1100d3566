"""What the texts of unit 10 demand, and which trial notices."""

from __future__ import annotations

from autograder.contract.promises import Promise, Promises

_LIVE = ("full", "leftover")
_ALL = (*_LIVE, "memory", "overflowed")
_ON_RANKS = (*_ALL, "single")

_MEAN = "Each update has to use the mean over the window's samples of all ranks."
_SGD = "`model` is a DistributedDataParallel, `optimizer` is SGD on its parameters, with or without momentum"
_STALE = "`.grad` may hold anything, infinity included, when your function is called."
_LARGE = (
    "after each epoch the parameters of every rank are those of large batches, one per window, with the samples of all ranks."
)
_MEMORY = "the peak memory stays below nine times that of a loop with one graph alive."
_ROUNDS = "gradients of all ranks travel once per window, leftover windows too, and after full windows the ranks are identical."
_LEAVE = "Leave the model in training mode, with sharing switched on, and the list as it is."
_FACTOR = "With it, DistributedDataParallel's average over the ranks must become the mean over the tokens"

PROMISES = {
    "ddp_train_epoch": Promises(
        demands=(
            Promise("mean over ranks", _MEAN, _ON_RANKS, "rank_sum"),
            Promise("mean over the window", _MEAN, _ALL, "no_scale"),
            Promise("every micro-batch", _MEAN, _ALL, "zero_every"),
            Promise("own micro-batches", "a list with this rank's own micro-batches.", _ON_RANKS, "shared_out_again"),
            Promise("loss", _MEAN, _ALL, "loss_arguments_swapped"),
            Promise("given loss", _MEAN, _ALL, "loss_of_its_own"),
            Promise("optimizer", _SGD, _LIVE, "update_by_hand"),
            Promise("every window", _LARGE, ("full", "single"), "counter_without_modulo"),
            Promise("every window shared", _ROUNDS, ("full", "single"), "sync_without_modulo"),
            Promise("ragged", "Micro-batches may be ragged", ("leftover",), "mean_of_means"),
            Promise("shorter", "the last window may be shorter", ("leftover",), "tail_dropped"),
            Promise("of one", "the last window may be shorter", ("leftover", "single"), "window_of_one_skipped"),
            Promise("N = 1", "one epoch as in unit 04", ("single",), "no_window_of_one"),
            Promise("stale", _STALE, ("leftover", "overflowed"), "stale_start"),
            Promise("infinity", _STALE, ("overflowed",), "clears_by_multiplying"),
            Promise("training mode", _LEAVE, ("full",), "module_left_in_eval_mode"),
            Promise("sharing", _LEAVE, ("full",), "sharing_left_off"),
            Promise("list", _LEAVE, ("full",), "empties_its_list"),
            Promise("in training mode", _LARGE, ("full",), "eval_mode"),
            Promise("graphs", _MEMORY, ("memory",), "one_big_batch"),
            Promise(
                "identical",
                "gradients have moved the parameters, and these are the same on all ranks.",
                _ON_RANKS,
                "never_sync",
            ),
            Promise("moved", "gradients have moved the parameters", _ON_RANKS, "equal_parameters_shared"),
            Promise("rounds", _ROUNDS, _LIVE, "sync_every"),
            Promise("leftovers once", _ROUNDS, ("leftover",), "sync_every_in_leftovers"),
            Promise(
                "nothing else", "Do not send both gradients and parameters for each window.", _LIVE, "parameters_sent_again"
            ),
            Promise("of all ranks", _ROUNDS, _ON_RANKS, "zeros_shared"),
            Promise("leftovers travel", _ROUNDS, ("leftover",), "tail_not_synced"),
        ),
        asks_nothing=(
            "Write `ddp_train_epoch",
            "Every rank has as many as the others",
            "What you return does not matter.",
            "Your function runs on two real processes.",
            "What earns points:",
            "For memory there are 24",
            "the parameters of every rank, in the same way.",
            "Bytes are counted",
            "With SGD, averaging the parameters",
            "Train for one epoch",
        ),
    ),
    "global_token_scale": Promises(
        demands=(
            Promise("factor", _FACTOR, ("uneven", "ranks", "empty"), "tokens_share_only"),
            Promise("as it is", "Leave `local_tokens` as it is.", ("uneven",), "tokens_summed_in_place"),
            Promise("not rounded", _FACTOR, ("uneven", "ranks"), "tokens_whole_number"),
            Promise("number", _FACTOR, ("uneven", "ranks", "empty"), "tokens_text"),
            Promise("any ranks", "the same with three.", ("ranks",), "tokens_two_ranks"),
            Promise("nothing", "if no rank has any, return 0 on all of them.", ("empty",), "tokens_zero_over_zero"),
            Promise("rank without tokens", "For a rank without tokens, return 0", ("empty",), "tokens_without_calling"),
            Promise("one token", _FACTOR, ("empty",), "tokens_at_least_two"),
        ),
        asks_nothing=(
            "Write `global_token_scale(local_tokens)`.",
            "Every rank calls it",
            "(The mean over no tokens",
            "Such a rank has to replace",
            "That is not part of this exercise.)",
            "the factor on both.",
            "one of two ranks, and both.",
            "To try your function",
            "What to multiply",
        ),
    ),
}
