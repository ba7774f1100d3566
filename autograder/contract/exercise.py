"""What an exercise is, and how one is marked.

An exercise has *trials* (what the student's function is run on) and ``judge`` (compares what was observed with a reference,
names the mistakes, awards points). How its function is observed on a trial is defined in the unit's ``observing`` module,
because that runs in the same process as student code; ``judge`` trusts only numbers and runs in another process.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Generic, TypeVar

from autograder.contract.observation import Failure, Observation
from autograder.contract.verdict import MAX_ROWS, Fault, Part, PartResult, Verdict

TrialT = TypeVar("TrialT")


class Exercise(ABC, Generic[TrialT]):
    """One function that a student writes and the autograder marks. ``TrialT`` is what it is run on once.

    Class attributes:
        id: name of the function.
        unit: the unit it belongs to, such as ``"04_training_loop"``.
        section: heading of the section of the notebook that prepares it. A student whose mistake is not listed in the unit's
            ``sections`` module is sent to this section.
        parts: what it gives points for.
        tidy: the part that is lost by a function that leaves something behind; by default the first one.
        graded: whether the points count in a class; those of a practice exercise do not.
        cpu_only: whether it computes on the CPU, in forked processes, whatever the device of the marker is.
    """

    id: str
    unit: str
    section: str
    parts: tuple[Part, ...]
    tidy: str = ""
    graded: bool = True
    cpu_only: bool = False

    @abstractmethod
    def trials(self, seed: int, device: str) -> Mapping[str, TrialT]:
        """What the function is run on, by name: plain data, the same for the same seed."""

    @abstractmethod
    def judge(self, trials: Mapping[str, TrialT], observations: Mapping[str, Observation]) -> Verdict:
        """The verdict for what was observed on each trial, by the trial's name."""

    @property
    def max_score(self) -> float:
        return float(sum(part.points for part in self.parts))

    def verdict(self, results: Mapping[str, str], **details: Any) -> Verdict:
        """A verdict from a message for every part, by name; an empty message means passed.

        ``details`` are further attributes of the verdict; of a fingerprint found, the first rows are shown.
        """
        if found := details.get("found"):
            details["found"] = found.beginning(MAX_ROWS)
        return Verdict(
            self.id,
            self.unit,
            tuple(PartResult(p, not results[p.name], results[p.name]) for p in self.parts),
            **details,
        )

    def with_trace(self, verdict: Verdict, trace: str) -> Verdict:
        """The verdict of a function that also left something behind, given as a sentence; the same verdict if that is empty."""
        if not trace:
            return verdict
        untidy = self.tidy or self.parts[0].name
        if any(result.part.name == untidy and not result.passed for result in verdict.results):
            return replace(verdict, remark=verdict.remark or trace)
        lost = (replace(r, passed=False, message=trace) if r.part.name == untidy else r for r in verdict.results)
        return replace(verdict, results=tuple(lost))

    def with_kept(self, verdict: Verdict, kept: str) -> Verdict:
        """The verdict of a function whose calls change what later ones find, given as a sentence: said if it loses points."""
        return verdict if verdict.passed or not kept else replace(verdict, remark=f"{kept} {verdict.remark}".strip())

    def unmarked(self, fault: Fault) -> Verdict:
        """What takes the place of a verdict if the marker failed."""
        return Verdict(self.id, self.unit, tuple(PartResult(part, False) for part in self.parts), fault=fault)

    def failed(self, failure: Failure) -> Verdict:
        """The verdict of a function that has no result on any trial."""
        return self.verdict({part.name: failure.message for part in self.parts}, failure=failure)
