"""What the updates of a run hold: looked at when an optimizer steps, or when parameters changed without one."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from functools import wraps
from typing import Any

import torch
from torch import Tensor
from torch.optim.optimizer import Optimizer

from gradaccum.watching.forwards import Forwards
from gradaccum.watching.guard import Guard
from gradaccum.watching.held import Held, names_of
from gradaccum.watching.holdings import Holdings
from gradaccum.watching.log import Log, Update
from gradaccum.watching.own_optimizers import OwnOptimizers

MAX_SCALES = 64
"""Factors of loss scalers that are kept."""


class Updates:
    """The updates of all optimizers, and of none.

    Attributes:
        in_backward: whether a backward is running.
        own: optimizers that are not torch's.
    """

    def __init__(self, log: Log, holdings: Holdings, forwards: Forwards, guard: Guard):
        self._log, self._holdings, self._forwards, self._guard = log, holdings, forwards, guard
        self.in_backward = self._in_closure = False
        self._optimizers: list[tuple[Any, list[Held]]] = []  # with the parameters they updated last, by number
        self._clipped_by: set[str] = set()
        self._seen_backwards: dict[int, int] = {}  # how many there were at the last update of each optimizer
        self._running: list[tuple[Optimizer, list[Held], list[Update]]] = []  # optimizers that step, and what was noted of it
        self._moved: dict[int, list[bool]] = {}  # whether the steps of an optimizer moved parameters, by its number
        self.own = OwnOptimizers(log, holdings, self._of_all)

    # Steps of an optimizer

    def before_step(self, optimizer: Optimizer, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict] | None:
        """An optimizer is about to step; return other arguments for it if it gets a closure."""
        self._running.append((optimizer, self.of(optimizer), []))
        closure = args[1] if len(args) > 1 else kwargs.get("closure")  # the first is the optimizer
        if not callable(closure):
            self._note(optimizer)
            return None
        watchers = getattr(closure, "watchers", ())
        if self in watchers:  # an optimizer passes it on to another
            return None

        @wraps(closure)
        def watched(*given: Any, **named: Any) -> Any:
            again, self._in_closure = self._in_closure, True
            value = closure(*given, **named)
            self._guard(self._after_closure, optimizer, again)
            return value

        watched.watchers = (*watchers, self)  # type: ignore[attr-defined]

        return ((args[0], watched), kwargs) if len(args) > 1 else (args, kwargs | {"closure": watched})

    def _after_closure(self, optimizer: Optimizer, again: bool) -> None:
        self._note(optimizer)
        self._forwards.forget_inputs()
        if again:
            self._log.notes[
                f"{type(optimizer).__name__} calls its closure several times in a step: each time counts as an update here."
            ] = None

    def after_step(self, optimizer: Optimizer) -> None:
        """An optimizer has stepped."""
        mine, self._in_closure = self.of(optimizer), False
        noted: list[Update] = []
        while any(known is optimizer for known, _, _ in self._running):  # those above it raised
            noted = self._running.pop()[2]
        if mine:
            self._forwards.updated(mine)
            moved = self._holdings.updated(mine, self._log.backwards)
            if noted and noted[-1] in self._log.updates and any(noted[-1].rows.values()):
                self._moves(noted[-1].optimizer, moved, type(optimizer).__name__)

    def _moves(self, number: int, moved: bool, name: str) -> None:
        """A step of an optimizer moved parameters, or did not: if only every so many do, it adds up gradients itself."""
        steps = self._moved.setdefault(number, [])
        steps.append(moved)
        times = [k for k, one in enumerate(steps, 1) if one]
        if len(times) > 1 and times[0] > 1 and times == list(range(times[0], len(steps) + 1, times[0])):
            self._log.cannot_tell[
                f"Only one in {times[0]} steps of {name} moved parameters: it may add up gradients itself, which is not seen."
            ] = None

    def elsewhere(self, optimizer: Optimizer) -> None:
        """An optimizer stepped in another thread than the one that watches."""
        if self.of(optimizer):
            self._log.cannot_tell[
                "An optimizer updated watched parameters in another thread: watch in the thread that trains."
            ] = None

    def _note(self, optimizer: Optimizer) -> None:
        mine = self.of(optimizer)
        self.own.stepped(mine)
        if not mine:
            self._log.idle |= not any(p.grad is not None for group in optimizer.param_groups for p in group["params"])
            return
        if self.in_backward:
            self._holdings.added(self._log.backwards)
        update = Update(self._number(optimizer, mine), self._log.backwards + self.in_backward)
        update.clipped, update.shrunk, update.own_factors = self._look_at_step(mine)
        scale, overflow = getattr(optimizer, "grad_scale", None), getattr(optimizer, "found_inf", None)
        update.skipped = overflow is not None and bool(overflow)
        self._fill(update, mine, float(scale) if isinstance(scale, Tensor) else 1.0)
        passed_on = self._passed_on(update, mine)
        self._enter(update, mine, again=not passed_on)
        for known, _, noted in self._running:
            if known is optimizer:
                noted.append(update)

    def _fill(self, update: Update, mine: Iterable[Held], divisor: float = 1.0) -> None:
        """Note what parameters hold in an update."""
        for held in mine:
            if held.parameter.grad is None and not held.touched:
                continue
            if held.unknown:
                update.unknown[id(held.parameter)] = held.unknown
            holding = held.holding if divisor == 1.0 else {b: c / divisor for b, c in held.holding.items()}
            update.rows[id(held.parameter)] = holding
            update.averaged |= held.averaged & holding.keys()

    def _enter(self, update: Update, mine: Sequence[Held], again: bool = True) -> None:
        """Add an update of these parameters to the log.

        Args:
            again: whether it is one of its own.
        """
        for held in mine:
            self._log.clipped_inside += held.clipped_inside
            held.clipped_inside = False
        update.empty = all(held.parameter.grad is None for held in mine)
        known = self._seen_backwards.get(update.optimizer, -1)
        nothing = not update.empty and not any((*update.rows.values(), *update.unknown.values()))
        if again and known == update.backwards and nothing:
            self._log.for_nothing += 1
        self._seen_backwards[update.optimizer] = update.backwards
        self._log.updates.append(update)

    def _passed_on(self, update: Update, mine: Sequence[Held]) -> bool:
        """Whether an optimizer that is stepping only passed this update on: what was noted of itself is taken back."""
        found = False
        for _, theirs, noted in self._running[:-1]:
            shared = {id(held.parameter) for held in mine if held in theirs}
            for other in noted if shared else []:
                found = True
                update.clipped, update.shrunk = update.clipped or other.clipped, update.shrunk or other.shrunk
                update.own_factors |= other.own_factors
                for key in shared:
                    other.rows.pop(key, None)
                    other.unknown.pop(key, None)
                if not (other.rows or other.unknown) and other in self._log.updates:
                    self._log.updates.remove(other)
        return found

    # Optimizers that are not torch's

    def _of_all(self) -> Update | None:
        """What all parameters hold as an optimizer that is not torch's begins to step; None inside a backward."""
        if self.in_backward:
            return None
        held = list(self._holdings.held.values())
        update = Update(-1, self._log.backwards)
        update.clipped, update.shrunk, update.own_factors = self._look_at_step(held)
        self._fill(update, held)
        return update

    def _note_own(self, moved: Iterable[Held]) -> set[Held]:
        """Note the updates of optimizers that are not torch's; return the parameters that are in them."""
        found: set[Held] = set()
        for step in self.own.ended(set(moved)):
            update, mine = step.update, [held for held in self._holdings.held.values() if held in step.read]
            ids = {id(held.parameter) for held in mine}
            update.optimizer = self._number(step.owner, mine)
            update.rows = {key: row for key, row in update.rows.items() if key in ids}
            update.unknown = {key: reason for key, reason in update.unknown.items() if key in ids}
            self._enter(update, mine)
            self._forwards.updated(mine)
            for held in mine:
                held.updated, held.clipped, held.parts = update.backwards, 1.0, {}
            found |= step.read
        return found

    # Updates without an optimizer

    def note_by_hand(self) -> None:
        """Note parameters that changed although no optimizer updated them."""
        if self._in_closure:
            return
        self._running.clear()
        moved = self._holdings.moved(self._holdings.held.values())
        own = self._note_own(moved)
        held = [one for one in moved if one.touched and one not in own]
        if not held:
            return
        if all(max(one.touched) < one.updated for one in held):
            self._log.notes["Parameters were changed between updates, too, as by averaging or clipping weights."] = None
            return
        if self._optimizers:
            self._log.cannot_tell[
                f"{names_of(held)} changed outside of optimizer.step(), too, so it cannot be told which updates count."
            ] = None
            return
        update = Update(-1, self._log.backwards, by_hand=True, along=True)
        for one, holding in self._holdings.explained({one: moved[one] for one in held}).items():
            update.along &= holding is not None
            update.rows[id(one.parameter)] = one.holding if holding is None else holding
            if holding is None and not one.holding:
                update.unknown[id(one.parameter)] = "it was updated by hand by something that backwards do not explain"
            one.updated, one.parts = self._log.backwards, {}
        self._log.updates.append(update)
        self._log.notes[
            "The parameters were updated by hand. What gradients were multiplied by then is not seen: only shares within a "
            "window are judged."
        ] = None

    # What is done to .grad in between

    def clips(self, function: str) -> None:
        """One of torch's functions is about to clip: what was done to ``.grad`` until now was something else."""
        if not self._clipped_by:
            self._holdings.look(self._holdings.held.values())
        self._clipped_by.add(function)

    def look(self, of: Iterable[Held]) -> list[float]:
        """Find out what was done to ``.grad`` of these parameters since the last look; return by what it was scaled."""
        clipping, self._clipped_by = self._clipped_by, set()
        by_value = clipping & {"_foreach_clamp_min_", "clamp_"}
        return self._holdings.look(of, clipped="value" if by_value else "norm" if clipping else "")

    def _look_at_step(self, of: Sequence[Held]) -> tuple[float | None, tuple[float, float] | None, bool]:
        """Look at ``.grad`` before an update.

        Returns by how much torch clipped it, by how much else it was scaled, with its norm then, and whether parameters were
        scaled differently.
        """
        factors = self.look(of)
        clipped = [held.clipped for held in of if held.clipped != 1.0]
        if any(math.isnan(factor) for factor in clipped):
            self._log.notes["Gradients were clipped by value before updates; what they held before that is judged."] = None
        elif clipped:
            return min(clipped), None, False
        if not factors or len(set(factors)) > 1 or factors[0] in (0.0, 1.0):
            return None, None, len(set(factors)) > 1
        gradients = [held.parameter.grad for held in of if held.parameter.grad is not None]
        return None, (factors[0], float(torch.stack([g.detach().float().norm() for g in gradients]).norm())), False

    # Loss scalers

    def around_scale(self, args: tuple, kwargs: dict[str, Any]) -> Generator[None, Any, None]:
        """A loss scaler multiplies a loss."""
        yield
        scale = getattr(args[0], "_scale", None)
        if isinstance(scale, Tensor) and len(self._log.scales) < MAX_SCALES:
            self._log.scales.append(scale.detach().clone())

    def around_unscale(self, args: tuple, kwargs: dict[str, Any]) -> Generator[None, Any, None]:
        """Gradients are about to be divided by the loss scaler's factor: what clipping did until now was another factor."""
        optimizer = args[1] if len(args) > 1 else kwargs.get("optimizer")
        if isinstance(optimizer, Optimizer):
            self._log.clipped_scaled += bool(self._clipped_by)
            self.look(self.of(optimizer))
        yield

    def around_scaler_step(self, args: tuple, kwargs: dict[str, Any]) -> Generator[None, Any, None]:
        """A loss scaler has an optimizer step, or not, because gradients have overflowed."""
        before = len(self._log.updates)
        yield
        optimizer = args[1] if len(args) > 1 else kwargs.get("optimizer")
        if len(self._log.updates) == before and isinstance(optimizer, Optimizer):
            for held in self.of(optimizer):
                self._holdings.overflowed.update(held.holding)

    def of(self, optimizer: Any) -> list[Held]:
        """The watched parameters of an optimizer."""
        known = self._holdings.held
        return [known[id(p)] for group in optimizer.param_groups for p in group["params"] if id(p) in known]

    def _number(self, optimizer: Any, mine: list[Held]) -> int:
        """The number of an optimizer: one that is made for the same parameters again goes on where the other ended."""
        for number, (known, held) in enumerate(self._optimizers):
            if known is optimizer or held == mine:
                self._optimizers[number] = optimizer, mine
                return number
        self._optimizers.append((optimizer, mine))
        return len(self._optimizers) - 1
