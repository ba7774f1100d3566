"""What is in the ``.grad`` of each parameter, as coefficients of backwards.

Autograd only ever adds to ``.grad``. So it is enough to look at ``.grad`` before and after each backward, and before each
update: in between it was left alone, cleared, or scaled, which a sketch of it tells. Parameters with the same history share one
holding.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from gradaccum.watching import sketch
from gradaccum.watching.held import NOTHING, Held, Holding

Move = tuple[Tensor, float]
"""By how much the entries of a sketch of a parameter changed, and how much of it may be rounding."""

MOVED = 1e-3
"""Part of a move that need not be along gradients: an optimizer's own rounding leaves 1e-5, another direction much more."""

COARSE = 0.05
"""Part of a move from which on rounding hides what it was along."""

UNKNOWN = "its .grad was not made by backward, or changed by more than a factor"


class Holdings:
    """The holdings of all watched parameters. Each method is one look at them."""

    def __init__(self) -> None:
        self.held: dict[int, Held] = {}
        self.overflowed: set[int] = set()  # backwards whose gradients were thrown away because they were not finite
        self.decayed: set[str] = set()  # parameters a multiple of which was added to .grad
        self._memo: dict[tuple, tuple[Holding, Holding]] = {}  # what was changed is kept, or its id could be used again
        self._factors_now: list[float] = []

    def watch(self, named: Iterable[tuple[str, Tensor]]) -> None:
        """Watch these parameters too, those that are known already aside."""
        for name, parameter in named:
            if parameter.requires_grad and id(parameter) not in self.held:
                held = self.held[id(parameter)] = Held(parameter, name)
                if parameter.grad is not None:
                    held.after, held.unknown = self._read(held), "its .grad held something before watching began"

    def look(self, of: Iterable[Held], *, clipped: str = "") -> list[float]:
        """Find out what was done to ``.grad`` since the last look; return by what it was scaled.

        Args:
            of: the parameters to look at.
            clipped: ``"norm"`` or ``"value"`` if torch clipped them since: this stays out of the holdings until another
                backward adds to what was clipped.
        """
        self._memo, self._factors_now = {}, []
        factors, odd = [], []
        for held in of:
            factor = self._look(held, clipped)
            if factor is not None:
                factors.append(factor)
            if held.unknown == UNKNOWN:
                odd.append(held)
        for held in odd:
            self._like_another(held)
        return factors

    def _look(self, held: Held, clipped: str) -> float | None:
        gradient, before = held.parameter.grad, held.after
        if gradient is None:
            self._cleared(held)
            held.after = None
            return None
        if clipped == "value" and held.holding:
            held.after, held.identity = self._read(held), (id(gradient), gradient._version)
            if before is not None and not torch.equal(before, held.after):
                held.clipped = math.nan
            return None
        now = self._read(held)
        held.identity = (id(gradient), gradient._version)
        held.after = now
        if before is None:
            self._replaced(held, now)
            return None
        factor = sketch.multiple(now, before)
        if factor is None:
            if bool(now.isfinite().all()):
                self._replaced(held, now)
        elif factor == 0.0:
            held.after = before
            self._cleared(held)
            held.after = now
        elif factor != 1.0 and held.holding:
            factor = self._shared_factor(factor, now.dtype)
            if clipped:
                held.clipped *= factor
            else:
                held.holding = self._scaled(held.holding, factor)
            return factor
        return 1.0 if factor == 1.0 and held.holding else None

    def _cleared(self, held: Held) -> None:
        if held.after is not None and not bool(held.after.isfinite().all()):
            self.overflowed.update(held.holding)
        held.holding, held.unknown, held.clipped, held.clipped_inside = NOTHING, "", 1.0, False

    def _replaced(self, held: Held, now: Tensor) -> None:
        """``.grad`` was handed in, or changed by more than a factor: maybe it is a combination of what backwards added."""
        numbers = list(held.parts)
        parts = [held.parts[b] for b in numbers]
        found = sketch.combination(now, parts)
        if found is None and parts and len(now) <= sketch.MAX_ENTRIES and not held.blocks:
            found = sketch.combination(now, [*parts, sketch.read(held.parameter)])
            if found is not None:
                self.decayed.add(held.name)
        held.clipped = 1.0
        if found is None:
            held.holding, held.unknown = NOTHING, UNKNOWN
        else:
            rounding = 20 * sketch.tolerance(now.dtype)
            values = {b: c for b, c in zip(numbers, found[: len(numbers)], strict=True) if abs(c) > rounding}
            held.holding, held.unknown = self._interned(values), ""

    def _like_another(self, held: Held) -> None:
        """Too few entries for an answer of its own: maybe what is true for another parameter is true for it."""
        if held.after is None or not held.parts:
            return
        now = held.after.double()
        for other in self.held.values():
            if other.holding and not other.unknown and other.holding.keys() <= held.parts.keys():
                made = sum(c * held.parts[b].double() for b, c in other.holding.items())
                rest = (now - made).norm()
                if other.name in self.decayed and held.after.shape == held.parameter.detach().flatten().shape:
                    share = sketch.multiple(now - made, held.parameter.detach().flatten())
                    rest = rest if share is None else rest.new_zeros(())
                if float(rest) <= 20 * sketch.tolerance(held.after.dtype) * float(now.norm()):
                    held.holding, held.unknown = other.holding, ""
                    return

    def added(self, backward: int) -> None:
        """A backward is over: note which parameters it reached."""
        self._memo = {}
        for held in self.held.values():
            if held.parameter.grad is None:
                held.arriving = None
            elif backward in held.parts:
                self._look(held, "")  # it was added to .grad before the end: a hook may have changed this since
            else:
                self.add(held, backward)

    def add(self, held: Held, backward: int) -> None:
        """A backward has added to ``.grad`` of this parameter, if it has changed."""
        gradient = held.parameter.grad
        arriving, held.arriving = held.arriving, None
        if gradient is None:
            return
        identity = (id(gradient), gradient._version)
        if held.after is not None and identity == held.identity:
            return
        before, now = held.after, self._read(held)
        if not held.blocks and not bool(now.any()) and now.numel() == sketch.MAX_ENTRIES:
            held.blocks, arriving = True, None
            before, now = (None if before is None else torch.zeros_like(before)), self._read(held)
        held.after, held.identity = now, identity
        held.touched.add(backward)
        if math.isnan(held.clipped):
            held.holding, held.unknown = NOTHING, "its .grad was clipped by value before another backward added to it"
        elif held.clipped != 1.0:
            held.holding = self._scaled(held.holding, held.clipped)
        held.clipped_inside |= held.clipped != 1.0
        held.clipped = 1.0
        part = now if before is None else now - before
        if backward in held.parts:
            held.parts[backward] = held.parts[backward] + part
            return
        held.parts[backward] = part
        factor = 1.0 if arriving is None else sketch.multiple(part, arriving)
        if factor is None:
            held.unknown = "a hook on it changed its gradient by more than a factor"
        held.holding = self._plus(held.holding, backward, 1.0 if factor is None else factor)

    def updated(self, of: Iterable[Held], backwards: int) -> bool:
        """An optimizer has updated these parameters after so many backwards, and may have written into ``.grad``.

        Returns whether it has moved any of them.
        """
        moved = False
        for held in of:
            held.updated, held.clipped = backwards, 1.0
            gradient = held.parameter.grad
            held.after = None if gradient is None else self._read(held)
            held.identity = (0, 0) if gradient is None else (id(gradient), gradient._version)
            before, held.values = held.values, sketch.read(held.parameter)
            moved |= before is None or not torch.equal(before, held.values)
            held.parts = {}
        return moved

    def averaged(self, of: Iterable[Held], factor: float) -> None:
        """``.grad`` was added up over ranks, times this factor: what was not yet, because the rest is alike on all.

        What single backwards of other ranks added is not known, so ``.grad`` is no combination of what was seen here.
        """
        self._memo = {}
        for held in of:
            fresh = held.holding.keys() - held.averaged
            held.holding = self._interned({b: c * factor if b in fresh else c for b, c in held.holding.items()})
            held.averaged |= fresh
            held.parts, held.after = {}, self._read(held)

    def taken(self, held: Held, backward: int, gradient: Tensor) -> None:
        """A backward gave this gradient to the trainer instead of adding it to ``.grad``."""
        dense = gradient.to_dense() if gradient.is_sparse else gradient
        held.parts[backward] = sketch.read(dense, held.blocks)
        held.touched.add(backward)

    def moved(self, of: Iterable[Held]) -> dict[Held, Move]:
        """The parameters whose values changed since they were last looked at, and how."""
        changed = {}
        for held in of:
            now, before = sketch.read(held.parameter), held.values
            if before is not None and not torch.equal(now, before):
                rounding = 2 * torch.finfo(now.dtype).eps * float(now.double().norm())
                changed[held] = (now.double() - before.double(), rounding)
            held.values = now
        return changed

    def explained(self, moves: dict[Held, Move]) -> dict[Held, Holding | None]:
        """What these parameters were moved along, up to a factor: what is in ``.grad``, or what backwards since brought."""
        found: dict[Held, Holding | None] = {}
        for held, (move, rounding) in moves.items():
            found[held] = None
            if held.blocks or rounding > COARSE * float(move.norm()):
                continue
            if held.holding and held.after is not None and _rest(move, [held.after]) <= rounding + MOVED * float(move.norm()):
                found[held] = held.holding
                continue
            parts = {b: part for b, part in held.parts.items() if b >= held.updated}
            coefficients = sketch.combination(move, list(parts.values()), MOVED + rounding / max(float(move.norm()), 1e-300))
            if coefficients is not None:
                least = MOVED * max(map(abs, coefficients))
                found[held] = {b: c for b, c in zip(parts, coefficients, strict=True) if abs(c) > least}
        for held, (move, rounding) in moves.items():
            for other in [] if found[held] is not None or held.blocks else list(found.values()):
                if other and other.keys() <= held.parts.keys():
                    made = sum(c * held.parts[b].double() for b, c in other.items())
                    if float((made - move).norm()) <= rounding + 2 * MOVED * float(move.norm()):
                        found[held] = other
        return found

    def _read(self, held: Held) -> Tensor:
        gradient = held.parameter.grad
        assert gradient is not None
        if gradient.is_sparse:
            gradient = gradient.to_dense()
        return sketch.read(gradient, held.blocks)

    def _shared_factor(self, factor: float, dtype: torch.dtype) -> float:
        """The factor another parameter was scaled by, if it is the same up to rounding."""
        rounding = sketch.tolerance(dtype)
        for known in (1.0, *self._factors_now):
            if abs(known - factor) <= rounding * abs(known):
                return known
        self._factors_now.append(factor)
        return factor

    def _scaled(self, holding: Holding, factor: float) -> Holding:
        key = (id(holding), factor)
        if key not in self._memo:
            self._memo[key] = holding, {b: c * factor for b, c in holding.items()}
        return self._memo[key][1]

    def _plus(self, holding: Holding, backward: int, factor: float) -> Holding:
        key = (id(holding), "plus", round(factor, 6))
        if key not in self._memo:
            self._memo[key] = holding, holding | {backward: holding.get(backward, 0.0) + factor}
        return self._memo[key][1]

    def _interned(self, values: Holding) -> Holding:
        key = tuple(sorted((b, round(c, 6)) for b, c in values.items()))
        return self._memo.setdefault(key, (values, values))[1]


def _rest(move: Tensor, along: list[Tensor]) -> float:
    """How much of a move is not along some gradients."""
    basis = torch.stack([one.double() for one in along], dim=1)
    if basis.shape[0] != len(move) or not bool(basis.isfinite().all()):
        return math.inf
    return float((basis @ (torch.linalg.pinv(basis) @ move) - move).norm())
