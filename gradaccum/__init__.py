"""The bench of the gradient-accumulation course: problems, loops, recordings, fingerprints and explorables.

``watch`` turns it on any trainer::

    with gradaccum.watch(model, accumulation_steps=4) as seen:
        trainer.train()
    seen.check()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from torch import Tensor, nn

    from gradaccum.watching.seen import Seen

__version__ = "0.1.0"


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
    from gradaccum.watching.watcher import Watcher

    return Watcher(model, accumulation_steps, updates, loss)


def loss_seen(loss: Tensor, count: float | Tensor | None = None) -> None:
    """Point out a loss that :func:`watch` does not find: a mean over ``count`` samples or tokens.

    Call it in the trainer, before ``backward()``. Outside of a watched block it does nothing.
    """
    from gradaccum.watching.watcher import point_out

    point_out(loss, count)
