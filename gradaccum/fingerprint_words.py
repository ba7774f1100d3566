"""A fingerprint in words: what a loop computes, and how that differs from what is due."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torch import Tensor

from gradaccum.fingerprint import Fingerprint, as_fraction

NONZERO = 1e-4
"""Coefficients above this count; different loops differ by more than 1e-2."""


def say(found: Fingerprint, due: Fingerprint, most: int = 3) -> str:
    """What is in the updates, to continue a sentence that begins with the loop: ``"makes 3 updates; …"``.

    Args:
        found: the loop's fingerprint.
        due: that of a right loop on the same problem.
        most: how many differences are named, the plainest first.
    """
    differences = list(_differences(found, due))[:most]
    if not differences:
        one, each = (
            ("it", "its coefficients") if len(found.coefficients) == 1 else ("exactly one of them", "the coefficients of each")
        )
        differences = [f"every micro-batch is in {one}, and {each} add up to 1: an average"]
    return f"makes {_updates(found, due)}; {'; '.join(differences)}"


def listing(words: Iterable[object]) -> str:
    """``"1, 2 and 3"``; a long list is cut short."""
    listed = [str(word) for word in words]
    if len(listed) > 8:
        return f"{', '.join(listed[:6])}, …"
    return " and ".join(filter(None, [", ".join(listed[:-1]), listed[-1]]))


def number(value: float) -> str:
    """A coefficient in words, zero included."""
    return as_fraction(value) or "0"


def _updates(found: Fingerprint, due: Fingerprint) -> str:
    made, wanted = len(found.coefficients), len(due.coefficients)
    said = f"{made or 'no'} update{'' if made == 1 else 's'}"
    return said if made == wanted else f"{said} where {wanted} {'is' if wanted == 1 else 'are'} due"


def _differences(found: Fingerprint, due: Fingerprint) -> Iterator[str]:
    rows = found.coefficients
    if not len(rows):
        return
    if not found.linear:
        rest = float(found.residuals.max())
        yield (
            f"up to {rest:.0%} of an update is no combination of the micro-batches' gradients: the loop changes what the "
            "gradients are, not only how they are added"
        )
        return
    if bool((rows.abs() < NONZERO).all()):
        yield "none of them holds any gradient, so the parameters do not move"
        return
    yield from _membership(rows.abs() > NONZERO, due.coefficients.abs() > NONZERO)
    before = found.stale if found.stale is not None else rows.new_zeros(len(rows))
    if places := [u + 1 for u, share in enumerate(before.abs().tolist()) if share > NONZERO]:
        where = "them" if len(places) == len(rows) > 1 else f"update{'s' if len(places) > 1 else ''} {listing(places)}"
        yield f"what .grad held before the loop began is in {where} too"
    yield from _sizes(rows, due.coefficients, before)
    if bool(((found.rates - 1).abs() > NONZERO).any()):
        yield f"the learning rate they use is {_each(found.rates)} of the one given"


def _membership(inside: Tensor, due: Tensor) -> Iterator[str]:
    """Which micro-batches are in which updates."""
    missing = [k + 1 for k, count in enumerate(inside.sum(0).tolist()) if not count]
    repeated = sum(count > 1 for count in inside.sum(0).tolist())
    if missing:
        yield f"micro-batch{'es' if len(missing) > 1 else ''} {listing(missing)} {'are' if len(missing) > 1 else 'is'} in none"
    if repeated:
        yield f"{repeated} of {inside.shape[1]} micro-batches are in more than one of them"
    windows = set(map(tuple, due.tolist()))
    widths, wanted = inside.sum(1).tolist(), due.sum(1).tolist()
    told = missing and set(widths) == {1}
    if not told and widths != wanted and any(tuple(row) not in windows for row in inside.tolist()):
        they = "it holds" if len(widths) == 1 else "the updates hold"
        few = "each holds one micro-batch" if set(widths) == {1} else f"{they} {listing(widths)} micro-batches"
        yield f"{few} instead of {wanted[0] if len(set(wanted)) == 1 else listing(wanted)}"


def _sizes(rows: Tensor, due: Tensor, before: Tensor) -> Iterator[str]:
    """How much of each micro-batch there is; a row's sum includes what .grad held ``before``."""
    sums = rows.sum(1) + before
    if bool(((sums - 1).abs() > NONZERO).any()):
        yield f"the coefficients of an update add up to {_each(sums)} instead of 1"
    for u, (row, right) in enumerate(zip(rows, due, strict=False)):
        both = (row.abs() > NONZERO) & (right > NONZERO)
        shares = row[both] / right[both]
        if len(shares) and float(shares.max() - shares.min()) > NONZERO:
            k = int(both.nonzero()[(shares - 1).abs().argmax()])
            weighs, wanted = number(float(row[k])), number(float(right[k]))
            yield f"in update {u + 1}, micro-batch {k + 1} weighs {weighs} where {wanted} is due"
            return


def _each(values: Tensor) -> str:
    """All values in order, or the one they have in common."""
    words = [number(value) for value in values.tolist()]
    return words[0] if len(set(words)) == 1 else listing(words)
