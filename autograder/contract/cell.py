"""A piece of code to run: what reading a file yields."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """The code of one cell.

    Attributes:
        name: how to name it to the student.
        source: the code.
        id: of the cell in the submission's notebook; empty where there is no notebook.
        given: whether it is a cell of the released notebook, unchanged, that is not for the student to fill in.
    """

    name: str
    source: str
    id: str = ""
    given: bool = False
