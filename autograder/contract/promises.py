"""What the text of an exercise demands of a student, and which trial notices if a function does not do it.

A unit's folder lists its demands in ``promises.py``; tests see to it that none lacks a trial or a sample.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """One demand.

    Attributes:
        id: a short name, unique in its exercise.
        sentence: the words of the notebook that make the demand, as they stand there. A promise that follows from no single
            sentence quotes the nearest one.
        trials: names of the trials that notice if a function does not meet it. With the observations of a right function in
            place of theirs, ``sample`` gets full marks; with those of a right function in place of all others, it does not.
        sample: a file in the unit's ``mistakes`` samples, without its suffix, that violates this demand and no other.
    """

    id: str
    sentence: str
    trials: tuple[str, ...]
    sample: str


@dataclass(frozen=True)
class Promises:
    """All that the text of an exercise says.

    Attributes:
        demands: what it asks of the student.
        asks_nothing: the beginnings of its other sentences: they describe, explain or permit.
    """

    demands: tuple[Promise, ...]
    asks_nothing: tuple[str, ...] = ()
