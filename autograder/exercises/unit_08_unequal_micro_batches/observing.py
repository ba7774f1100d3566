"""Running a loop over tokens, and asking for the denominator of a window's loss."""

from __future__ import annotations

from autograder.observing.calls import observe_number
from autograder.observing.token_loops import observe_tokens

OBSERVERS = {"train_epoch_tokens": observe_tokens, "window_denominator": observe_number}
