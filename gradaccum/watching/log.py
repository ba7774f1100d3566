"""Everything that a watched run showed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import Tensor

from gradaccum.watching.held import Holding

if TYPE_CHECKING:
    from gradaccum.watching.losses import Loss


@dataclass(eq=False)
class Update:
    """One update that was seen.

    Attributes:
        optimizer: number of the optimizer, in the order in which they were seen; -1 for an update without one.
        backwards: how many backwards had ended by then.
        rows: for each parameter that has a gradient, by its id, what was in it.
        unknown: for parameters whose ``.grad`` cannot be told, the reason.
        skipped: whether the optimizer left the parameters as they were, because gradients had overflowed.
        clipped: what torch's clipping multiplied gradients by; None if it did not.
        shrunk: what all of them were multiplied by otherwise after the last backward, and how long they were then.
        empty: whether no parameter had a gradient.
        by_hand: whether no optimizer made it.
        along: whether it moved parameters along their ``.grad``, if it was made by hand.
        own_factors: whether parameters were multiplied by factors of their own after the last backward.
        averaged: the backwards in it whose gradients had been averaged over ranks.
    """

    optimizer: int
    backwards: int
    rows: dict[int, Holding] = field(default_factory=dict)
    unknown: dict[int, str] = field(default_factory=dict)
    skipped: bool = False
    clipped: float | None = None
    shrunk: tuple[float, float] | None = None
    empty: bool = False
    by_hand: bool = False
    along: bool = True
    own_factors: bool = False
    averaged: set[int] = field(default_factory=set)


@dataclass
class Log:
    """Everything a run showed.

    Attributes:
        losses: in the order in which they were computed.
        updates: in order.
        backwards: how many there were.
        boundaries: numbers of backwards before which a data loader was started again.
        repeated: backwards of an input that another backward of the same update had already.
        alike: parameters that got the same gradient in all backwards of an update, and how often, while others did not.
        notes: sentences about what was seen, each once.
        cannot_tell: sentences that say why a run cannot be judged at all.
        ranks: how many ranks gradients were averaged over.
        world, rank: how many ranks there are, and which of them this is.
        store: where ranks can leave something for each other; None if there is only one.
        finished: whether the run was seen to its end.
        idle: whether an optimizer of other parameters updated although none of them had a gradient.
        for_nothing: updates after which no backward came until the next, with gradients that were zero.
        by_grad: backwards that were calls of torch.autograd.grad.
        clipped_inside: how often an update held gradients that were clipped before the last backward of their window.
        clipped_scaled: how often gradients were clipped while a loss scaler's factor was still in them.
        scales: factors by which a loss scaler multiplied losses.
        fault: traceback of an error of ours that ended the watching; empty if there was none.
    """

    losses: list[Loss] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    backwards: int = 0
    boundaries: list[int] = field(default_factory=list)
    repeated: set[int] = field(default_factory=set)
    alike: dict[str, int] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    cannot_tell: dict[str, None] = field(default_factory=dict)
    ranks: int = 1
    world: int = 1
    rank: int = 0
    store: Any = None
    finished: bool = False
    idle: bool = False
    for_nothing: int = 0
    clipped_inside: int = 0
    clipped_scaled: int = 0
    by_grad: set[int] = field(default_factory=set)
    scales: list[Tensor] = field(default_factory=list)
    fault: str = ""

    def aside(self) -> set[int]:
        """The backwards that were calls of torch.autograd.grad, if no update is known to hold any of them."""
        held = {backward for update in self.updates for row in update.rows.values() for backward in row}
        return set() if held & self.by_grad else self.by_grad
