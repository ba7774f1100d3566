"""What is known of one watched parameter and its ``.grad``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor

Holding = dict[int, float]
"""The coefficient of each backward in a ``.grad``, by number of the backward. Never changed, because it is shared."""

NOTHING: Holding = {}


@dataclass(eq=False)
class Held:
    """A watched parameter, and what is known of its ``.grad``.

    Attributes:
        parameter, name: itself.
        holding: what is in ``.grad``.
        unknown: why that cannot be told; empty if it can.
        touched: the backwards that reached it.
        after: sketch of ``.grad`` when it was last looked at; None if it was None.
        parts: sketch of what each backward added since the last update.
        values: sketch of the parameter itself.
        blocks: whether sketches are sums over blocks.
        averaged: the backwards whose gradients were averaged over ranks.
        clipped: what torch's clipping multiplied ``.grad`` by since the last backward; not a number if it clipped by value.
        clipped_inside: whether another backward has added to what was clipped.
        updated: how many backwards there were at its last update.
        arriving: sketch of what a backward brings, before hooks on the parameter change it; None if it has none.
    """

    parameter: Tensor
    name: str
    holding: Holding = field(default_factory=dict)
    unknown: str = ""
    touched: set[int] = field(default_factory=set)
    after: Tensor | None = None
    identity: tuple[int, int] = (0, 0)
    parts: dict[int, Tensor] = field(default_factory=dict)
    values: Tensor | None = None
    blocks: bool = False
    averaged: set[int] = field(default_factory=set)
    clipped: float = 1.0
    clipped_inside: bool = False
    updated: int = 0
    arriving: Tensor | None = None

    @property
    def size(self) -> int:
        return self.parameter.numel()


def names_of(held: Sequence[Held], most: int = 3) -> str:
    """A few parameters' names."""
    names = [one.name for one in held]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
