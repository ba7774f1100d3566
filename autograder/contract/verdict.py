"""The marks of one exercise and the reasons for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autograder.contract.observation import Failure
from gradaccum.diagnosis.catalogue import Mistake
from gradaccum.fingerprint import Fingerprint

MAX_ROWS = 50
"""Rows of a fingerprint that a verdict shows. Right loops have a dozen; a picture of thousands would take megabytes."""


@dataclass(frozen=True)
class Part:
    """Something an exercise gives points for. ``title`` completes the sentence "points for …"."""

    name: str
    title: str
    points: float


@dataclass(frozen=True)
class PartResult:
    """A part, the share of its points that was earned (0 or 1), and what was missing."""

    part: Part
    passed: bool
    message: str = ""

    @property
    def points(self) -> float:
        return self.part.points if self.passed else 0.0


@dataclass(frozen=True)
class Fault:
    """A fault of the marker, because of which an exercise is unmarked. It says nothing about the function.

    Attributes:
        reason: what failed and where, for one line of a message.
        traceback: for whoever mends it.
        log: the file in which the traceback is, if that is known.
    """

    reason: str
    traceback: str = ""
    log: str = ""

    def __str__(self) -> str:
        """What to tell a student."""
        return (
            f"The marker failed on this exercise ({self.reason}), so it is unmarked: no points are lost. The fault is the "
            f"course's, not yours. Please report it to your instructor or to the course's authors{self._with_log()}."
        )

    def _with_log(self) -> str:
        return f", with the file {self.log}" if self.log else ""


@dataclass(frozen=True)
class Verdict:
    """The marks of one exercise and the reason for them.

    Attributes:
        exercise, unit: ids.
        results: one for each part.
        mistakes: named mistakes, the simplest explanation first.
        failure: why no trial of the function has a result, if none has.
        expected, found: fingerprints to show, if there are any.
        remark: a sentence about what no catalogued mistake explains; may be empty.
        fault: why the exercise is unmarked; None if it is marked.
    """

    exercise: str
    unit: str
    results: tuple[PartResult, ...]
    mistakes: tuple[Mistake, ...] = ()
    failure: Failure | None = None
    expected: Fingerprint | None = None
    found: Fingerprint | None = None
    remark: str = ""
    fault: Fault | None = None

    @property
    def score(self) -> float | None:
        """The points; None if the exercise is unmarked."""
        return None if self.fault else float(sum(result.points for result in self.results))

    @property
    def max_score(self) -> float:
        return float(sum(result.part.points for result in self.results))

    @property
    def passed(self) -> bool:
        return all(result.passed for result in self.results)

    @property
    def failure_everywhere(self) -> bool:
        """Whether the failure is all there is to say, and nothing about single parts."""
        return self.failure is not None and all(result.message == self.failure.message for result in self.results)

    def __str__(self) -> str:
        from autograder.showing.verdict_html import as_text

        return as_text(self)

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from autograder.showing.verdict_html import mimebundle

        return mimebundle(self)
