"""What the texts of this unit's exercises demand."""

from autograder.contract.promises import Promise, Promises

_NAMES = ("full", "leftovers", "windows", "mixed")
_UNEVEN = ("tokens", "token 0", "repeated", "leftover", "short", "epochs", "beside", "empty")
_EPOCHS = "epochs differ in length, and nothing of one reaches the next."
_EVERY = (*_UNEVEN, "no accumulation")
_ALL = ("weights", "windows", "ends", "untold")

PROMISES = {
    "name_those_trainers": Promises(
        demands=(
            Promise("list", "returns a list with a name for each of them.", (*_NAMES, "one"), "names_as_a_dictionary"),
            Promise("each", "returns a list with a name for each of them.", (*_NAMES, "one"), "names_first_only"),
            Promise("one", "returns a list with a name for each of them.", ("one",), "names_of_one_without_a_list"),
            Promise(
                "on its own", "returns a list with a name for each of them.", ("mixed",), "names_with_a_leftover_remembered"
            ),
            Promise("looked up", "returns a list with a name for each of them.", _NAMES, "names_looked_up_by_tokens"),
            Promise("measured", "they are off by up to one part in a million.", _NAMES, "names_exact_numbers"),
            Promise("small shares", "they are off by up to one part in a million.", ("windows",), "names_without_small_shares"),
            Promise("some window", "token counts differ in some window", ("full", "mixed"), "names_by_first_window"),
            Promise("right leftover", "there is one, of any number", ("leftovers", "mixed"), "names_of_equal_tokens_unread"),
            Promise(
                "tokens",
                '`"tokens"`: how many tokens each micro-batch has.',
                ("full", "leftovers", "mixed"),
                "names_without_tokens",
            ),
            Promise("leftover", "the leftover is in no update", ("leftovers", "mixed"), "names_without_leftover"),
            Promise(
                "any leftover",
                "there is one, of any number of micro-batches below N.",
                ("leftovers", "mixed"),
                "names_dropped_single",
            ),
            Promise(
                "before a leftover",
                "there is one, of any number of micro-batches below N.",
                ("leftovers", "mixed"),
                "names_by_the_last_update",
            ),
            Promise("own leftover", "a leftover is applied", ("windows",), "names_off_by_one_without_leftover"),
            Promise("clearing", "gradients are never cleared", ("windows",), "names_without_clearing"),
        ),
        asks_nothing=(
            "Write `name_those_trainers",
            "A fingerprint is a dictionary",
            '`"found"`',
            "A row is a list",
            '`"accumulation_steps"`',
            "N, at least 2.",
            "All micro-batches come from one epoch",
            "The names:",
            "| name |",
            '| `"right"`',
            '| `"no-scale"`',
            '| `"wrong-total"`',
            '| `"tail-scale"`',
            '| `"zero-every"`',
            '| `"step-every"`',
            '| `"off-by-one-early"`',
            "Each trainer does what its name says",
            "there is no leftover",
            "there may be a leftover",
            "Try your function on",
            "(They are no-scale,",
            "The name of each fingerprint",
        ),
    ),
    "RepairedTrainer": Promises(
        demands=(
            Promise("mean", "averaged over all its tokens.", _UNEVEN, "repaired_leftover_only"),
            Promise("divided once", "averaged over all its tokens.", _UNEVEN, "repaired_divided_again"),
            Promise("padding", "Targets of −100 do not count as tokens.", _EVERY, "repaired_counts_padding"),
            Promise("token 0", "Targets of −100 do not count as tokens.", ("token 0",), "repaired_zero_is_no_token"),
            Promise("subclass", "a subclass of `Trainer`", _EVERY, "repaired_no_subclass"),
            Promise("hooks", "The library calls its own `train`:", _UNEVEN, "repaired_overrides_train"),
            Promise("unused", "some parameters may be frozen or unused.", ("tokens",), "repaired_needs_every_gradient"),
            Promise("N = 1", "full windows, and N = 1.", ("no accumulation",), "repaired_without_accumulation_only"),
            Promise("each window", "in each window, leftover or not", ("repeated",), "repaired_totals_by_content"),
            Promise("leftover", "in each window, leftover or not", ("leftover", "short", "epochs"), "repaired_drops_leftover"),
            Promise("short", "shorter than a window.", ("short", "epochs"), "repaired_short_epoch_not_applied"),
            Promise("epochs", _EPOCHS, ("epochs",), "repaired_totals_of_the_first_epoch"),
            Promise("windows of epochs", _EPOCHS, ("epochs",), "repaired_windows_numbered_on"),
            Promise("equally long epochs", _EPOCHS, ("epochs",), "repaired_totals_by_length"),
            Promise("in full", "averaged over all its tokens.", ("no accumulation",), "repaired_under_autocast"),
            Promise("data", "Leave the micro-batches as they are.", ("empty",), "repaired_replaces_padding"),
            Promise(
                "another",
                "Another trainer of your class may train in the meantime.",
                ("beside",),
                "repaired_counts_on_the_class",
            ),
            Promise("empty", "a window without tokens changes nothing.", ("empty",), "repaired_divides_by_nothing"),
        ),
        asks_nothing=(
            "Override hooks",
            "One trainer is given several epochs",
            "A trainer whose updates hold",
        ),
    ),
    "accumulates_right": Promises(
        demands=(
            Promise(
                "true or false", "returns `True` if the updates of a trainer hold what is due", _ALL, "accumulates_in_words"
            ),
            Promise(
                "passes right ones",
                "returns `True` if the updates of a trainer hold what is due",
                _ALL,
                "accumulates_always_false",
            ),
            Promise("fails wrong ones", "and `False` if they do not", _ALL, "accumulates_always_true"),
            Promise(
                "passes with a note",
                "returns `True` if the updates of a trainer hold what is due",
                ("untold",),
                "accumulates_a_note_is_no_pass",
            ),
            Promise("untold", "or if watching cannot tell.", ("untold",), "accumulates_no_mistakes_is_a_pass"),
            Promise("no update", "and a trainer that never updates.", ("untold",), "accumulates_lets_check_raise"),
            Promise(
                "epochs",
                "an update after every micro-batch, or too late; clearing before each, or never.",
                ("windows", "ends"),
                "accumulates_of_one_epoch",
            ),
            Promise("steps", "`accumulation_steps` is the N that was meant.", ("windows",), "accumulates_without_steps"),
            Promise(
                "N = 1 is meant",
                "`accumulation_steps` is the N that was meant.",
                ("windows",),
                "accumulates_with_steps_above_one",
            ),
            Promise(
                "each window",
                "What is due, in each window and in a leftover,",
                ("weights", "windows", "ends"),
                "accumulates_of_first_update",
            ),
            Promise("mean", "is the mean over all its tokens.", ("weights", "windows", "ends"), "accumulates_of_row_sums"),
            Promise("source", "So names and source say nothing", _ALL, "accumulates_by_source"),
            Promise("names", "So names and source say nothing", _ALL, "accumulates_by_name"),
            Promise("N = 1", "N may be 1.", ("weights", "windows"), "accumulates_needs_accumulation"),
            Promise("wrong with N = 1", "N may be 1.", ("windows",), "accumulates_by_accumulation_alone"),
            Promise("leftover", "divided by N, or not applied,", ("ends",), "accumulates_of_full_windows"),
            Promise("earlier epoch", "whether after the first epoch or the last.", ("ends",), "accumulates_epoch_by_epoch"),
        ),
        asks_nothing=(
            "Write the test",
            "`make_trainer()` builds the same trainer",
            "Its `model`",
            "It is run on more than twenty",
            "Nearly every wrong one",
            "nothing, micro-batches, positions, tokens.",
            "an update after every micro-batch, or too late; clearing before each",
            "Whether the updates of a trainer",
        ),
    ),
}
