"""What the texts of this unit's exercises demand."""

from autograder.contract.promises import Promise, Promises

MODELS = ("plain", "shared", "deep", "gated")
SCATTERED = ("scattered 0", "scattered 1", "scattered 2", "scattered 3", "scattered 4", "scattered 5")
LINES = ("exact 0", "exact 1", "exact 2", "exact 3", "exact 4", *SCATTERED)
LARGEST, FULL = tuple(f"largest {k}" for k in range(18)), tuple(f"full {k}" for k in range(9))
NONE = ("none 0", "none 1", "none 2", "none 3")

PROMISES = {
    "saved_bytes": Promises(
        (
            Promise("loss", "when the forward pass of `loss_fn(model(x), y)` is over", MODELS, "saved_bytes_without_loss"),
            Promise("arguments", "`loss_fn(model(x), y)`", ("gated",), "saved_bytes_swapped_loss_arguments"),
            Promise("own loss", "The last model has a loss function of its own.", ("gated",), "saved_bytes_of_mse"),
            Promise("once", "Count storages, each once", ("shared", "deep", "gated"), "saved_bytes_every_time"),
            Promise("one storage", "Count storages, each once", ("gated",), "saved_bytes_once_for_each_shape"),
            Promise("no more", "that autograd keeps does count", ("deep", "gated"), "saved_bytes_inputs_in_any_case"),
            Promise("storage", "and with all their bytes", ("gated",), "saved_bytes_elements_of_views"),
            Promise("slice of x", "`x` is a slice as well.", ("gated",), "saved_bytes_contiguous_x"),
            Promise("parameters", "Parameters do not count", ("deep",), "saved_bytes_with_parameters"),
            Promise("views", "leave out the storages", ("deep",), "saved_bytes_by_type_of_the_base"),
            Promise(
                "of storages", "leave out the storages that belong to a parameter", ("deep",), "saved_bytes_by_data_pointer"
            ),
            Promise("frozen", "frozen or not", ("deep",), "saved_bytes_with_frozen_parameters"),
            Promise("everything", "Everything else that autograd keeps does count", MODELS, "saved_bytes_without_inputs"),
            Promise("buffers", "Everything else that autograd keeps does count", ("deep",), "saved_bytes_without_buffers"),
            Promise(
                "single numbers", "Everything else that autograd keeps does count", ("deep",), "saved_bytes_of_several_numbers"
            ),
            Promise("slices", "that belong to a parameter of the model", ("deep",), "saved_bytes_by_first_element"),
            Promise("nested", "that belong to a parameter of the model", ("deep",), "saved_bytes_without_nested_layers"),
            Promise("masks", "Everything else that autograd keeps does count", ("deep",), "saved_bytes_of_floats"),
            Promise("dropout", "dropout in either mode", ("deep",), "saved_bytes_in_evaluation_mode"),
            Promise("data", "the model, `x` and `y` stay as they are", MODELS, "saved_bytes_of_a_graph_for_x"),
            Promise("attributes", "the model, `x` and `y` stay as they are", MODELS, "saved_bytes_noted_on_the_model"),
            Promise("modes", "the model, `x` and `y` stay as they are", ("deep",), "saved_bytes_in_training_mode"),
            Promise("its modes", "dropout in either mode", ("deep",), "saved_bytes_in_training_mode_and_back"),
            Promise(
                "x as it is",
                "the forward pass of `loss_fn(model(x), y)` is over",
                ("deep",),
                "saved_bytes_of_a_copy_with_graph",
            ),
            Promise("of x", "`x` is a slice as well", ("gated",), "saved_bytes_of_copies"),
            Promise("equal ones", "Count storages, each once", ("deep",), "saved_bytes_of_different_values"),
            Promise("second call", "a second call returns the same", MODELS, "saved_bytes_of_what_is_new"),
            Promise("another batch", "when the forward pass of", ("plain",), "saved_bytes_by_model"),
            Promise("bytes", "the number of bytes", MODELS, "saved_bytes_four_bytes_each"),
        ),
        (
            "a single layer",
            "a layer and a tanh",
            "many layers, each",
            "a layer whose output",
            "Whether you call",
            "Bytes autograd holds",
        ),
    ),
    "memory_line": Promises(
        (
            Promise("pair", "returns the pair `(fixed, per_sample)`", LINES, "memory_line_turned_round"),
            Promise("exact", "lists of points that lie on it", LINES, "memory_line_through_zero"),
            Promise("least squares", "lists of points that lie on no line", SCATTERED, "memory_line_first_two"),
            Promise("gigabytes", "some at many gigabytes", ("exact 2", "exact 4"), "memory_line_in_32_bits"),
            Promise("digits", "Three correct digits are enough.", ("exact 4",), "line_by_normal_equations_in_float32"),
            Promise("fractions", "Three correct digits are enough.", ("scattered 5",), "memory_line_in_whole_bytes"),
            Promise("falling", "lists of points that lie on no line", ("scattered 5",), "memory_line_never_falls"),
            Promise("below zero", "may come out below zero", ("scattered 3",), "memory_line_never_negative"),
            Promise("repeated", "perhaps with repetitions", ("scattered 4",), "memory_line_one_point_for_each_size"),
            Promise("whole points", "perhaps with repetitions", ("scattered 4",), "memory_line_set_of_points"),
            Promise("any order", "in any order", SCATTERED, "memory_line_smallest_and_largest"),
        ),
        ("Write `memory_line", "Any library", "The pair (fixed, per_sample)"),
    ),
    "plan_micro_batches": Promises(
        (
            Promise("pair", "it returns the pair `(B, N)`", (*LARGEST, *FULL), "plan_micro_batches_turned_round"),
            Promise("largest", "with the largest B that fits the budget", (*LARGEST, *FULL), "plan_micro_batches_one_by_one"),
            Promise("divides", "B × N is exactly `effective_batch`", (*LARGEST, *FULL), "plan_micro_batches_fills_the_budget"),
            Promise("int", "both numbers are integers", LARGEST, "plan_micro_batches_float_steps"),
            Promise("prime and whole", "The effective batch may be prime", LARGEST, "plan_micro_batches_never_the_whole"),
            Promise("prime that fits", "prime or large, and all of it may fit", LARGEST, "plan_micro_batches_one_for_primes"),
            Promise(
                "large", "prime or large", ("largest 9", "largest 11", "largest 13", "none 3"), "plan_micro_batches_recursive"
            ),
            Promise("many steps", "prime or large", ("largest 13",), "plan_micro_batches_a_hundred_steps"),
            Promise("large and whole", "all of it may fit", ("largest 10",), "plan_micro_batches_up_to_1024"),
            Promise(
                "gigabytes",
                "with the largest B that fits the budget",
                ("largest 10", "largest 11", "largest 12"),
                "plan_micro_batches_in_32_bits",
            ),
            Promise("last byte", "a micro-batch that needs exactly the budget fits", FULL, "plan_micro_batches_strict"),
            Promise(
                "last sample",
                "a micro-batch that needs exactly the budget fits",
                ("full 7",),
                "plan_micro_batches_refuses_a_sample_that_needs_the_budget",
            ),
            Promise(
                "whole numbers", "All four arguments are whole numbers", ("largest 12",), "plan_micro_batches_divides_floats"
            ),
            Promise("none", "not even one sample", NONE, "plan_micro_batches_returns_none"),
            Promise("reason", "Any words will do, but an empty message will not.", NONE, "plan_micro_batches_no_reason"),
            Promise(
                "signs",
                "the others may be zero or negative",
                ("largest 16", "full 3", "full 4", "full 5", "full 6", "full 8", "none 2"),
                "plan_micro_batches_positive_only",
            ),
            Promise(
                "fixed below zero", "may be zero or negative", ("full 6", "full 8"), "plan_micro_batches_fixed_at_least_zero"
            ),
            Promise(
                "budget below zero",
                "the others may be zero or negative",
                ("full 4", "full 5"),
                "plan_micro_batches_refuses_a_budget_of_zero",
            ),
        ),
        ("A recipe asks", "A micro-batch of B samples needs", "The pair (B, N)"),
    ),
}
