"""What an exercise is, and how one is marked.

An exercise has *trials* (what the student's function is run on) and ``judge`` (compare what was observed with a reference, name
the mistakes, award points). How its function is observed on a trial stands in the unit's ``observing`` module, because that
runs beside student code; ``judge`` believes nothing but numbers and runs somewhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from autograder.contract.observation import Failure, Observation
from autograder.contract.verdict import MOST_ROWS, Part, PartResult, Verdict

TrialT = TypeVar("TrialT")


class Exercise(ABC, Generic[TrialT]):
    """One function that a student writes and the autograder marks. ``TrialT`` is what it is run on once.

    Class attributes:
        id: name of the function.
        unit: the unit it belongs to, such as ``"04_training_loop"``.
        section: heading of the section of the notebook that prepares it. It shows the mistakes made in this exercise that no
            section in the unit's ``sections`` module shows.
        parts: what it gives points for.
        graded: whether the points count in a class; those of a practice exercise do not.
        cpu_only: whether it computes on the CPU whatever device is marked on, in processes that are forked.
    """

    id: str
    unit: str
    section: str
    parts: tuple[Part, ...]
    graded: bool = True
    cpu_only: bool = False

    @abstractmethod
    def trials(self, seed: int, device: str) -> Mapping[str, TrialT]:
        """What the function is run on, by name: plain data, the same for the same seed."""

    @abstractmethod
    def judge(self, trials: Mapping[str, TrialT], observations: Mapping[str, Observation]) -> Verdict:
        """Marks for what was observed on every trial."""

    @property
    def max_score(self) -> float:
        return float(sum(part.points for part in self.parts))

    def verdict(self, results: Mapping[str, str], **details: Any) -> Verdict:
        """A verdict from messages by part name; an empty message means passed. Every part needs one."""
        if found := details.get("found"):
            details["found"] = found.beginning(MOST_ROWS)
        return Verdict(
            self.id,
            self.unit,
            tuple(PartResult(p, not results[p.name], results[p.name]) for p in self.parts),
            **details,
        )

    def failed(self, failure: Failure) -> Verdict:
        """The verdict of a function that brought back nothing at all."""
        return self.verdict({part.name: failure.message for part in self.parts}, failure=failure)
