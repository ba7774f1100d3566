"""What a loop's updates hold instead of what is due, in words, where no catalogued mistake explains them.

Every sentence is checked against all updates before it is said.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gradaccum.fingerprint import Fingerprint, as_fraction
from gradaccum.fingerprint_words import listing

SAME = 1e-4
"""Largest difference between coefficients that are the same; those of different loops differ by more than 1e-2."""

ROUND = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Lengths to which gradients are usually clipped."""

CLIPPED = "No gradient is longer than {:g} at its update: longer ones are shortened to this length, which was not asked for."

Blocks = list[set[int]]
"""The micro-batches in each update, by their number."""


class Window(NamedTuple):
    """A window that is due, as far as it decides what a wrong divisor could be.

    Attributes:
        sizes: samples of its micro-batches.
        steps: micro-batches of the widest window.
        last: micro-batches of its epoch's last window.
        epoch: micro-batches of its epoch.
    """

    sizes: tuple[int, ...]
    steps: int
    last: int
    epoch: int


DIVISORS: tuple[tuple[str, Callable[[Window], float]], ...] = (
    ("", lambda w: 1),
    ("one less than the number of its micro-batches", lambda w: len(w.sizes) - 1),
    ("one more than the number of its micro-batches", lambda w: len(w.sizes) + 1),
    ("the number of accumulation steps", lambda w: w.steps),
    ("one less than the number of accumulation steps", lambda w: w.steps - 1),
    ("one more than the number of accumulation steps", lambda w: w.steps + 1),
    ("the number of micro-batches in the last window of its epoch", lambda w: w.last),
    ("the number of its samples", lambda w: sum(w.sizes)),
    ("the number of samples of one of its micro-batches", lambda w: w.sizes[0]),
    ("the number of micro-batches in its epoch", lambda w: w.epoch),
)
"""What a window's sum may be divided by instead of the number of its micro-batches; without words if it is not."""

MISCOUNTED = re.compile("^one (less|more) than the number of ")
"""Divisors that are said as numbers where they never change: they may as well be constants."""


def updates_in_words(found: Fingerprint, due: Fingerprint, lengths: Tensor | None = None) -> str:
    """What is wrong with all updates of a linear loop, as a sentence or two; empty if there is no simple description.

    Args:
        found: the loop's fingerprint.
        due: that of a right loop.
        lengths: ``(U,)``, of the gradient at each update.
    """
    if found.columns != due.columns or not len(found.coefficients) or _holds_old(found):
        return ""
    held, wanted = _blocks(found), _blocks(due)
    if not all(held):
        return _empty_updates(found, due, held)
    if doubled := _doubled_updates(found, due):
        return doubled
    counts = [sum(k in block for block in held) for k in range(len(found.columns))]
    if max(counts) > 1:
        k = next(k for k, count in enumerate(counts) if count > 1)
        return f"Micro-batch {k + 1} is in {counts[k]} updates, where it is due in one."
    if held != wanted:
        missing = {k for k, count in enumerate(counts) if not count}
        if any(as_fraction(value) for k in missing for value in found.coefficients[:, k].tolist()):
            return ""  # the fingerprint shows that next to nothing is in an update, as after clipping
        return " ".join(filter(None, (_missing(missing, due, wanted), _other_windows(held, wanted, missing))))
    return _other_weights(found, due, lengths)


def _blocks(fingerprint: Fingerprint) -> Blocks:
    return [set(row.abs().gt(SAME).nonzero().flatten().tolist()) for row in fingerprint.coefficients]


def _holds_old(found: Fingerprint) -> bool:
    return found.stale is not None and bool((found.stale.abs() > SAME).any())


def _empty_updates(found: Fingerprint, due: Fingerprint, held: Blocks) -> str:
    rest = found.coefficients[[k for k, block in enumerate(held) if block]]
    if len(rest) != len(due.coefficients) or not torch.allclose(rest, due.coefficients, rtol=0, atol=SAME):
        return ""
    number = sum(not block for block in held)
    more = "1 more update, whose gradient is" if number == 1 else f"{number} more updates, whose gradients are"
    moves = "Unlike None, zeros let momentum move the parameters."
    return f"All gradients that are due are there, but your loop makes {more} zero or None. {moves}"


def _doubled_updates(found: Fingerprint, due: Fingerprint) -> str:
    kept, repeats = [0], [1]
    for u in range(1, len(found.coefficients)):
        if torch.allclose(found.coefficients[u], found.coefficients[kept[-1]], rtol=0, atol=SAME):
            repeats[-1] += 1
        else:
            kept.append(u)
            repeats.append(1)
    once = found.coefficients[kept]
    if max(repeats) == 1 or len(once) != len(due.coefficients) or not torch.allclose(once, due.coefficients, rtol=0, atol=SAME):
        return ""
    which = [k + 1 for k, number in enumerate(repeats) if number > 1]
    if len(which) == len(repeats) and len(set(repeats)) == 1:
        return f"Each window makes {repeats[0]} updates, where one is due."
    return f"More than one update is made from the same window, where one is due: {_listed('window', which)}."


def _missing(missing: set[int], due: Fingerprint, wanted: Blocks) -> str:
    if not missing:
        return ""
    windows = [k for k, block in enumerate(wanted) if block <= missing]
    if set().union(*(wanted[k] for k in windows)) == missing:
        lost, total = [len(wanted[k]) for k in windows], max(map(len, wanted))
        what = f", which has 1 of {total} micro-batches," if lost == [1] and total > 1 else ""
        return f"{_listed('Window', [k + 1 for k in windows])}{what} {'is' if len(windows) == 1 else 'are'} in no update."
    epochs = [epoch for epoch, _ in due.columns]
    firsts = {epochs.index(epoch) for epoch in epochs}
    lasts = {len(epochs) - 1 - epochs[::-1].index(epoch) for epoch in epochs}
    for words, those in (("first", firsts), ("last", lasts)):
        if missing == those and len(firsts) > 1:
            return f"The {words} micro-batch of each epoch is in no update."
    verb = "is" if len(missing) == 1 else "are"
    return f"{_listed('Micro-batch', [k + 1 for k in sorted(missing)])} {verb} in no update."


def _other_windows(held: Blocks, wanted: Blocks, missing: set[int]) -> str:
    if held == [block - missing for block in wanted if block - missing]:
        return ""
    in_order = [k for block in held for k in sorted(block)]
    if in_order != sorted(in_order):
        return ""
    numbers, right = ([len(block) for block in blocks] for blocks in (held, wanted))
    return f"Your updates hold {_several(numbers)} micro-batches; due are {_several(right)}."


def _other_weights(found: Fingerprint, due: Fingerprint, lengths: Tensor | None) -> str:
    ratios = [
        row[row_due > 0] / row_due[row_due > 0] for row, row_due in zip(found.coefficients, due.coefficients, strict=True)
    ]
    wrong = [u for u, ratio in enumerate(ratios) if bool(((ratio - 1).abs() > SAME).any())]
    if not wrong:
        return ""
    windows = list(_windows(due))
    which = _which(wrong, windows)
    if any(float(ratios[u].max() - ratios[u].min()) > SAME for u in wrong):
        return ""
    factors = {u: float(ratios[u][0]) for u in wrong}
    right = [u for u in range(len(ratios)) if u not in factors]
    if lengths is not None and (limit := _limit(factors, right, lengths)) is not None:
        return CLIPPED.format(limit)
    if all(abs(factors[u] - _if_all_like_first(windows[u].sizes)) <= SAME for u in wrong):
        large = "if all its micro-batches were as large as the first"
        return f"{which} counts as if divided by the number of samples it would have {large}."
    for step, words in ((1, "more"), (-1, "less")):
        totals = {u: sum(windows[u].sizes) for u in wrong}
        if all(total + step and abs(factors[u] - total / (total + step)) <= SAME for u, total in totals.items()):
            return f"{which} counts as if divided by 1 {words} than what it holds."
    even = all(len(set(windows[u].sizes)) == 1 for u in wrong)  # among uneven ones there is no single number to divide by
    if even and (by := _divided_by(factors, windows, which)) is not None:
        divided = f"divided by {by}" if by else "not divided at all"
        return f"{which} counts as if {divided}, where the number of its micro-batches is due."
    held = [sum(window.sizes) for window in windows]
    in_epoch = [sum(h for h, e in zip(held, due.row_epochs, strict=True) if e == epoch) for epoch in due.row_epochs]
    if all(abs(factors[u] - held[u] / in_epoch[u]) <= SAME for u in wrong):
        return f"{which} counts as if divided by all samples of its epoch, where those of the window are due."
    if 0 not in wrong:
        by_first, by_last = (all(abs(factors[u] - held[u] / held[k]) <= SAME for u, k in pairs) for pairs in _earlier(wrong))
        if by_first or by_last:
            other = "an earlier window" if by_first and by_last else "window 1" if by_first else "the window before"
            return f"{which} counts as if divided by what {other} holds."
    first = factors[wrong[0]]
    if all(abs(factor - first) <= SAME * max(1.0, abs(first)) for factor in factors.values()) and len(wrong) > 1:
        return f"{which} is {as_fraction(first)} times what is due."
    return ""


def _earlier(windows: Sequence[int]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """These windows with the first of all, and with the one before each."""
    return [(u, 0) for u in windows], [(u, u - 1) for u in windows]


def _divided_by(factors: Mapping[int, float], windows: Sequence[Window], which: str) -> str | None:
    """The words of what the wrong windows are divided by; None if nothing explains their factors.

    It has to explain the other windows as well, which are right, unless the wrong ones are all of one kind, full or leftover: a
    loop may treat these in a way of their own.
    """
    scopes = [range(len(windows)), *([list(factors)] if which.startswith("Every") else [])]
    for scope, (words, divisor) in itertools.product(scopes, DIVISORS):
        made = {u: divisor(windows[u]) or 1 for u in scope}  # nobody divides by 0
        if all(abs(factors.get(u, 1.0) - len(windows[u].sizes) / made[u]) <= SAME for u in scope):
            return f"{made[scope[0]]:g}" if MISCOUNTED.search(words) and len({*made.values()}) == 1 else words
    return None


def _if_all_like_first(sizes: Sequence[int]) -> float:
    """How many times the samples of micro-batches are what they would be if all had as many as the first."""
    return sum(sizes) / (sizes[0] * len(sizes))


def _windows(due: Fingerprint) -> Iterator[Window]:
    blocks = _blocks(due)
    steps = max(map(len, blocks))
    for block, epoch in zip(blocks, due.row_epochs, strict=True):
        last = [b for b, e in zip(blocks, due.row_epochs, strict=True) if e == epoch][-1]
        sizes = tuple(due.columns[k][1] for k in sorted(block))
        yield Window(sizes, steps, len(last), sum(e == epoch for e, _ in due.columns))


def _which(wrong: Sequence[int], windows: Sequence[Window]) -> str:
    """The wrong windows, as the subject of a sentence."""
    if len(wrong) == len(windows):
        return "Every window"
    narrow = {u for u, window in enumerate(windows) if len(window.sizes) < window.steps}
    alone = {u for u in narrow if len(windows[u].sizes) == 1}  # by whatever else it is divided, that may be 1
    if narrow - alone <= set(wrong) <= narrow:
        return "Every leftover window" if narrow == set(wrong) else "Every leftover window of several micro-batches"
    if set(wrong) == set(range(len(windows))) - narrow:
        return "Every full window"
    return _listed("Window", [wrong[0] + 1]) if len(wrong) == 1 else f"Each of {_listed('window', [u + 1 for u in wrong])}"


def _limit(factors: dict[int, float], right: Sequence[int], lengths: Tensor) -> float | None:
    """The length that all wrong gradients have, which were longer, and none of the right ones exceeds; None if they differ."""
    wrong = [float(lengths[u]) for u in factors]
    limit = wrong[0]
    round_number = any(abs(limit - number) <= SAME * number for number in ROUND)
    alike = all(abs(length - limit) <= SAME * limit for length in wrong) and (len(set(factors.values())) > 1 or round_number)
    fine = all(factor < 1 for factor in factors.values()) and all(float(lengths[u]) <= limit for u in right)
    return float(f"{limit:.4g}") if alike and fine else None


def _listed(what: str, numbers: Sequence[int]) -> str:
    """``Window 2``, ``Windows 2, 3 and 5``."""
    plural = what + ("es" if what.endswith("ch") else "s")
    if len(numbers) == 1:
        return f"{what} {numbers[0]}"
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [word for run in runs for word in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))]
    return f"{plural} {listing(words)}"


def _several(numbers: Sequence[int]) -> str:
    return listing(numbers)
