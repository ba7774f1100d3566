"""What is in the ``.grad`` of each parameter, as coefficients of backwards.

Autograd only ever adds to ``.grad``. So it is enough to look at ``.grad`` before and after each backward, and before each
update: in between it was left alone, cleared, or scaled, which a sketch of it tells. Parameters with the same history share one
holding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from gradaccum.watching import sketch

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

    @property
    def size(self) -> int:
        return self.parameter.numel()


class Holdings:
    """The holdings of all watched parameters. Each method is one look at them."""

    def __init__(self) -> None:
        self.held: dict[int, Held] = {}
        self._memo: dict[tuple, tuple[Holding, Holding]] = {}  # what was changed is kept, or its id could be used again
        self._factors_now: list[float] = []

    def watch(self, named: Iterable[tuple[str, Tensor]]) -> None:
        """Watch these parameters too, those that are known already aside."""
        for name, parameter in named:
            if parameter.requires_grad and id(parameter) not in self.held:
                held = self.held[id(parameter)] = Held(parameter, name)
                if parameter.grad is not None:
                    held.after, held.unknown = self._read(held), "its .grad held something before watching began"

    def look(self, of: Iterable[Held], *, clipped: bool = False) -> list[float]:
        """Find out what was done to ``.grad`` since the last look; return by what it was scaled.

        Args:
            of: the parameters to look at.
            clipped: leave a scaling out of the holdings, because it is clipping.
        """
        self._memo, self._factors_now = {}, []
        factors = []
        for held in of:
            factor = self._look(held, clipped)
            if factor is not None:
                factors.append(factor)
        return factors

    def _look(self, held: Held, clipped: bool) -> float | None:
        gradient, before = held.parameter.grad, held.after
        if gradient is None:
            held.holding, held.after, held.unknown = NOTHING, None, ""
            return None
        now = self._read(held)
        held.identity = (id(gradient), gradient._version)
        held.after = now
        if before is None:
            self._replaced(held, now)
            return None
        factor = sketch.multiple(now, before)
        if factor is None:
            self._replaced(held, now)
        elif factor == 0.0:
            held.holding, held.unknown = NOTHING, ""
        elif factor != 1.0 and held.holding:
            factor = self._shared_factor(factor, now.dtype)
            if not clipped:
                held.holding = self._scaled(held.holding, factor)
            return factor
        return 1.0 if factor == 1.0 and held.holding else None

    def _replaced(self, held: Held, now: Tensor) -> None:
        """``.grad`` was handed in, or changed by more than a factor: maybe it is a combination of what backwards added."""
        numbers = list(held.parts)
        found = sketch.combination(now, [held.parts[b] for b in numbers])
        if found is None:
            held.holding, held.unknown = NOTHING, "its .grad was not made by backward, or changed by more than a factor"
        else:
            rounding = 20 * sketch.tolerance(now.dtype)
            values = {b: c for b, c in zip(numbers, found, strict=True) if abs(c) > rounding}
            held.holding, held.unknown = self._interned(values), ""

    def added(self, backward: int) -> None:
        """A backward is over: note which parameters it reached."""
        self._memo = {}
        for held in self.held.values():
            gradient = held.parameter.grad
            if gradient is None:
                continue
            identity = (id(gradient), gradient._version)
            if held.after is not None and identity == held.identity:
                continue
            before, now = held.after, self._read(held)
            if not held.blocks and not bool(now.any()) and now.numel() == sketch.MAX_ENTRIES:
                held.blocks = True
                before, now = (None if before is None else torch.zeros_like(before)), self._read(held)
            held.after, held.identity = now, identity
            held.touched.add(backward)
            held.parts[backward] = now if before is None else now - before
            held.holding = self._plus(held.holding, backward)

    def updated(self, of: Iterable[Held]) -> None:
        """An optimizer has updated these parameters, and may have written into ``.grad``."""
        for held in of:
            gradient = held.parameter.grad
            held.after = None if gradient is None else self._read(held)
            held.identity = (0, 0) if gradient is None else (id(gradient), gradient._version)
            held.values = sketch.read(held.parameter)
            held.parts = {}

    def averaged(self, of: Iterable[Held], ranks: int) -> None:
        """The last backward averaged ``.grad`` over so many ranks."""
        self._memo = {}
        for held in of:
            held.holding = self._scaled(held.holding, 1 / ranks)
            held.parts = {b: part / ranks for b, part in held.parts.items()}

    def moved(self, of: Iterable[Held]) -> list[Held]:
        """The parameters whose values changed since they were last looked at."""
        changed = []
        for held in of:
            now = sketch.read(held.parameter)
            if held.values is not None and not torch.equal(now, held.values):
                changed.append(held)
            held.values = now
        return changed

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

    def _plus(self, holding: Holding, backward: int) -> Holding:
        key = (id(holding), "plus")
        if key not in self._memo:
            self._memo[key] = holding, holding | {backward: holding.get(backward, 0.0) + 1.0}
        return self._memo[key][1]

    def _interned(self, values: Holding) -> Holding:
        key = tuple(sorted((b, round(c, 6)) for b, c in values.items()))
        return self._memo.setdefault(key, (values, values))[1]


def names_of(held: Sequence[Held], most: int = 3) -> str:
    """A few parameters' names."""
    names = [one.name for one in held]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
