"""The units of the course, in order. Knows nothing of their exercises, so that reading a submission needs no torch."""

from __future__ import annotations

UNITS = (
    "00_start_here",
    "01_batches_and_gradients",
    "02_memory_limits",
    "03_accumulate",
    "04_training_loop",
    "05_learning_rate",
    "06_mixed_precision_and_clipping",
    "07_when_equivalence_breaks",
    "08_unequal_micro_batches",
    "09_contrastive_losses",
    "10_distributed",
    "11_running_it",
    "12_capstone",
)


def unit_in(text: str) -> str | None:
    """The unit whose id stands in a text such as ``"04_training_loop (1)"`` or ``"Copy of 04_training_loop"``, or None."""
    return next((unit for unit in UNITS if unit in text.lower()), None)
