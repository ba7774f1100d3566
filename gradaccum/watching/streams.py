"""Sort the losses of a run into streams, each of which becomes the columns of a matrix."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradaccum.watching.held import Held
    from gradaccum.watching.log import Log
    from gradaccum.watching.losses import Arrived, Loss

UNEVEN = 1e-3
"""Relative difference from which on the values of one loss weigh differently: rounding in half precision stays below."""


@dataclass(frozen=True)
class Column:
    """One loss that reached the parameters: a micro-batch.

    Attributes:
        weights: for each backward, the coefficient of the loss's mean in what that backward computed.
        count: what the loss counts; None if that is not known.
        last: the last of these backwards.
        uneven: whether values within it weigh differently.
        samples: how many samples it compares, if known.
        whole: whether it is the mean of a loss, not values that a trainer adds up and divides.
        forward, sampled: forwards of the model until then, and their samples.
        rank: whose it is, in a matrix of all ranks.
    """

    weights: dict[int, float]
    count: float | None
    last: int
    uneven: bool
    samples: float | None = None
    whole: bool = True
    forward: int = 0
    sampled: float = 0.0
    rank: int = 0


def streams_of(log: Log, held: Sequence[Held], steps: int | None) -> list[list[Loss]]:
    """The losses of each place in a program, in the order of the run; places that stand in for each other are one stream."""
    ends = sorted({update.backwards for update in log.updates})
    widths = Counter(b - a for a, b in pairwise([0, *ends]))
    one_backward = steps is not None and bool(widths) and max(widths, key=lambda width: widths[width]) < steps
    positions: dict[int, Counter[tuple]] = {}
    touched: dict[int, frozenset[int]] = {}
    places: dict[tuple, list[Loss]] = {}
    reaches: dict[tuple, dict[tuple, None]] = {}
    aside = log.aside()
    for loss in log.losses:
        if not loss.weights or aside & loss.weights.keys():
            continue
        backward = min(loss.weights)
        if backward not in touched:
            touched[backward] = frozenset(id(one.parameter) for one in held if backward in one.touched)
        if not touched[backward]:
            continue
        # Of several micro-batches in one backward, each went through a forward of its own.
        order = (
            (loss.kind, loss.forward or (loss.place, len(places.get((loss.kind, 0, loss.place), ())))) if one_backward else ()
        )
        counter = positions.setdefault(backward, Counter())
        position = counter[order or (loss.kind,)]
        counter[order or (loss.kind,)] += 1
        place = (loss.kind, position, loss.place)
        places.setdefault(place, []).append(loss)
        reaches.setdefault((loss.kind, position, touched[backward]), {})[place] = None
    return _joined(places, [list(alike) for alike in reaches.values()], ends, steps)


def _joined(
    places: dict[tuple, list[Loss]], reaches: Sequence[Sequence[tuple]], ends: Sequence[int], steps: int | None
) -> list[list[Loss]]:
    """One stream of all places that reach the same parameters, such as branches for a last micro-batch.

    Places that come equally often in every window are losses of their own, unless they make up a window only together.
    """
    parent = {place: place for place in places}

    def root(place: tuple) -> tuple:
        while parent[place] != place:
            place = parent[place]
        return place

    for alike in reaches:
        counts = [Counter(bisect_right(ends, min(loss.weights)) for loss in places[place]) for place in alike]
        together = len(alike) * Counter(counts[0].values()).most_common(1)[0][0] == steps
        if len(alike) > 1 and all(count == counts[0] for count in counts) and not together:
            continue
        for place in alike:
            parent[root(place)] = root(alike[0])
    streams: dict[tuple, list[Loss]] = {}
    for place, losses in places.items():
        streams.setdefault(root(place), []).extend(losses)
    return [sorted(losses, key=lambda loss: min(loss.weights)) for losses in streams.values()]


def column_of(loss: Loss) -> Column:
    """The column that a loss becomes."""
    weights, uneven = {}, False
    count = None if loss.count is None else float(loss.count)
    for backward, arrived in loss.weights.items():
        weights[backward], entries = _coefficient(loss, arrived, count)
        uneven |= float(arrived.largest) > float(arrived.smallest) * (1 + UNEVEN) and loss.count is None
        if count is None and entries > 1:
            count = entries
    return Column(weights, count, max(weights), uneven, loss.samples, loss.mean, loss.forward, loss.sampled)


def _coefficient(loss: Loss, arrived: Arrived, count: float | None) -> tuple[float, float]:
    """How much of the mean of a loss is in a backward, and how many values were counted."""
    if loss.mean:
        return float(arrived.total), count or 0.0
    if count is not None:
        return float(arrived.total) * count, count
    return float(arrived.size if loss.in_graph else arrived.total), float(arrived.entries)
