"""Watch any trainer: which micro-batches are in its updates, and how much of each, without a change to its run.

Two instruments together make the fingerprint. :mod:`~gradaccum.watching.losses` tells how a micro-batch is weighted: the
gradient that arrives at its loss. :mod:`~gradaccum.watching.holdings` tells how much of each backward is in ``.grad`` when an
optimizer updates. A coefficient is the product of the two. :mod:`~gradaccum.watching.watcher` connects them to a run,
:mod:`~gradaccum.watching.matrices` puts the matrices together, and :mod:`~gradaccum.watching.verdict` says what they mean.
Whatever looks at a run is called through :mod:`~gradaccum.watching.guard`: an error of ours ends the watching, not the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from torch import Tensor, nn

from gradaccum.watching.seen import CannotTellError, NotDueError, Seen
from gradaccum.watching.watcher import Watcher, point_out

__all__ = ["CannotTellError", "NotDueError", "Seen", "loss_seen", "watch"]


def watch(
    model: nn.Module | Iterable[Tensor],
    accumulation_steps: int | None = None,
    updates: int | None = None,
    loss: Callable | None = None,
) -> AbstractContextManager[Seen]:
    """Watch which micro-batches are in the updates of a model, and how much of each. Nothing in the run changes.

    Args:
        model: the model, or the parameters, that a trainer inside the block trains.
        accumulation_steps: how many micro-batches an update is meant to hold. Without it, an update after every micro-batch
            looks right.
        updates: stop watching after so many.
        loss: a module or function that computes the loss, if it is not found by itself.

    Raises:
        TypeError, ValueError: an argument makes no sense.
    """
    return Watcher(model, accumulation_steps, updates, loss)


def loss_seen(loss: Tensor, count: float | Tensor | None = None) -> None:
    """Point out a loss that :func:`watch` does not find: a mean over ``count`` samples or tokens.

    Call it in the trainer, before ``backward()``. Outside of a watched block it does nothing.
    """
    point_out(loss, count)
