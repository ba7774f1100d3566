"""What a verdict says of trials that have no result."""

from __future__ import annotations

from collections.abc import Mapping

from autograder.contract.observation import Failure, Observation


def first_failure(observations: Mapping[str, Observation]) -> Failure | None:
    """The failure of the first trial that has one, or None."""
    return next((seen.failure for seen in observations.values() if seen.failure), None)
