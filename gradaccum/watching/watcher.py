"""Watch a run: hooks on backward and on optimizers, which only look and never touch."""

from __future__ import annotations

import builtins
import gc
import math
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from gradaccum.watching import holdings, losses, sketch
from gradaccum.watching.holdings import Held, Holding, Holdings
from gradaccum.watching.losses import Loss, LossFinder
from gradaccum.watching.parameter_hooks import seen_through
from gradaccum.watching.seen import Seen


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
        optimizers: names of their classes.
        notes: sentences about what was seen, each once.
        cannot_tell: sentences that say why a run cannot be judged at all.
        ranks: how many ranks gradients were averaged over.
        world: how many ranks there are.
        finished: whether the run was seen to its end.
        idle: whether an optimizer of other parameters updated although none of them had a gradient.
        for_nothing: updates after which no backward came until the next, with gradients that were zero.
        by_grad: backwards that were calls of torch.autograd.grad.
        clipped_inside: how often an update held gradients that were clipped before the last backward of their window.
        scales: factors by which a loss scaler multiplied losses.
    """

    losses: list[Loss] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    backwards: int = 0
    boundaries: list[int] = field(default_factory=list)
    repeated: set[int] = field(default_factory=set)
    alike: dict[str, int] = field(default_factory=dict)
    optimizers: list[str] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    cannot_tell: dict[str, None] = field(default_factory=dict)
    ranks: int = 1
    world: int = 1
    finished: bool = False
    idle: bool = False
    for_nothing: int = 0
    clipped_inside: int = 0
    by_grad: set[int] = field(default_factory=set)
    scales: list[Tensor] = field(default_factory=list)

    def aside(self) -> set[int]:
        """The backwards that were calls of torch.autograd.grad, if no update is known to hold any of them."""
        held = {backward for update in self.updates for row in update.rows.values() for backward in row}
        return set() if held & self.by_grad else self.by_grad


MAX_SCALES = 64
"""Factors of loss scalers that are kept."""

_ACTIVE: list[Watcher] = []
"""Watchers at work, the innermost last."""


class Watcher(AbstractContextManager[Seen]):
    """See :func:`gradaccum.watch`; a model of None stands for all parameters that optimizers are made for."""

    def __init__(
        self,
        model: nn.Module | Iterable[Tensor] | None,
        accumulation_steps: int | None = None,
        updates: int | None = None,
        loss: Callable | None = None,
    ):
        if accumulation_steps is not None and (not isinstance(accumulation_steps, int) or accumulation_steps < 1):
            raise ValueError(f"accumulation_steps must be a whole number from 1 on, not {accumulation_steps!r}")
        if updates is not None and (not isinstance(updates, int) or updates < 1):
            raise ValueError(f"updates must be a whole number from 1 on, not {updates!r}")
        self.model = model if isinstance(model, nn.Module) else None
        self._parameters = None if model is None or isinstance(model, nn.Module) else list(model)
        if self._parameters is not None and not all(isinstance(p, Tensor) for p in self._parameters):
            raise TypeError("watch(model): model is a torch.nn.Module, or the parameters to watch")
        self.max_updates, self._loss = updates, loss
        self._finds_model = model is None
        self.log, self.holdings = Log(), Holdings()
        self.seen = Seen(self.log, self.holdings, accumulation_steps)
        self._exits = ExitStack()
        self._thread = threading.get_ident()
        self._optimizers: list[Optimizer] = []
        self._clipped_by: set[str] = set()
        self._in_backward = self._in_grad = self._in_closure = False
        self._grad_forwards = self._plain_forwards = 0
        self._forwards, self._sampled = 0, 0.0
        self._inputs: dict[int, weakref.ref[Tensor]] = {}  # of the model since the last update, by the number of the backward
        self._loaders: set[int] = set()
        self._seen_backwards: dict[int, int] = {}  # how many there were at the last update of each optimizer

    def __enter__(self) -> Seen:
        with ExitStack() as undo:  # of all that was done, if one step is refused
            if torch.distributed.is_available() and torch.distributed.is_initialized():
                self.log.world = torch.distributed.get_world_size()
            self._refresh()
            enter = undo.enter_context
            enter(_replaced(torch.autograd, "backward", self._around_backward))
            enter(_replaced(torch.autograd, "grad", self._around_grad))
            enter(_replaced(torch.utils.data.DataLoader, "__iter__", self._around_iter))
            enter(_replaced(torch.amp.GradScaler, "scale", self._around_scale))
            enter(_replaced(torch.amp.GradScaler, "step", self._around_scaler_step))
            if self._finds_model:
                enter(_replaced(Optimizer, "add_param_group", self._around_group))
            for handle in (
                register_optimizer_step_pre_hook(self._before_step),
                register_optimizer_step_post_hook(self._after_step),
                *([self.model.register_forward_pre_hook(_Hook(self._forward), with_kwargs=True)] if self.model is not None else []),
                *([self._loss.register_forward_hook(_Hook(self._own_loss))] if isinstance(self._loss, nn.Module) else []),
            ):
                undo.callback(handle.remove)
            if self._loss is not None and not isinstance(self._loss, nn.Module):
                enter(_replaced_function(self._loss, self._around_loss))
            self._finder = LossFinder(self._found, self._clips)
            enter(self._finder)
            _ACTIVE.append(self)
            undo.callback(_ACTIVE.remove, self)
            self._exits = undo.pop_all()
        return self.seen

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self.log.backwards and not self.stopped:
            self._note_updates_by_hand()
        self.stop(finished=kind is None)

    def stop(self, finished: bool) -> None:
        """Stop watching; what was seen stays."""
        self.log.finished |= finished
        self._exits.close()

    # Losses

    def _found(self, loss: Loss, value: Tensor) -> None:
        self.log.losses.append(loss)
        assert value.grad_fn is not None  # found with a graph
        losses.mark_as_seen(value.grad_fn)
        loss.forward, loss.sampled = self._forwards, self._sampled

        def arrives(gradient: Tensor) -> None:
            if not self._in_grad:
                loss.arrived(self.log.backwards, gradient)

        value.register_hook(arrives)

    def point_out(self, value: Tensor, count: float | Tensor | None) -> None:
        """A loss that the user names."""
        if value.requires_grad:
            self._found(losses.own_loss(value, count), value)

    def _own_loss(self, module: nn.Module, inputs: tuple, output: object) -> None:
        if isinstance(output, Tensor):
            self.point_out(output, _samples(inputs))

    def _around_loss(self, original: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        output = original(*args, **kwargs)
        if isinstance(output, Tensor):
            self.point_out(output, _samples((*args, *kwargs.values())))
        return output

    # Backwards

    def _around_backward(self, original: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        if self._in_backward or threading.get_ident() != self._thread or self.stopped:
            return original(*args, **kwargs)
        self._refresh()
        self._note_updates_by_hand()
        self._look(self.holdings.held.values())
        roots = args[0] if args else kwargs.get("tensors", ())
        handles = self._hook_graph([roots] if isinstance(roots, Tensor) else [t for t in roots if isinstance(t, Tensor)])
        self._in_backward = True
        try:
            with seen_through(self.holdings.held.values(), self.holdings, self.log.backwards):
                return original(*args, **kwargs)
        finally:
            self._in_backward = False
            for handle in handles:
                handle.remove()
            self.holdings.added(self.log.backwards)
            self._averaged()
            self.log.backwards += 1

    def _hook_graph(self, roots: list[Tensor]) -> list[Any]:
        """Look at the ends of the graph's linear part, if it goes through no loss that was found as it was computed."""
        handles, place = [], losses.place()
        for name in losses.beside_losses(roots):
            self.log.notes[f"{name} in the graph is added to losses that are judged; how it is divided itself is not."] = None
        for k, (node, name) in enumerate(losses.in_graph(roots)):
            loss = Loss(f"{name} in the graph", f"{k} {place}", None, mean=False, in_graph=True)
            loss.forward, loss.sampled = self._forwards, self._sampled
            self.log.losses.append(loss)
            handles.append(node.register_prehook(_arrival(loss, node, self.log.backwards)))
        return handles

    def _around_grad(self, original: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Gradients that a trainer takes itself are a backward too, unless it goes on to differentiate them."""
        if self._in_backward or self._in_grad or threading.get_ident() != self._thread or self.stopped:
            return original(*args, **kwargs)
        self._refresh()
        asked = args[1] if len(args) > 1 else kwargs.get("inputs", ())
        inputs = [asked] if isinstance(asked, Tensor) else list(asked)
        known = [self.holdings.held.get(id(one)) for one in inputs]
        further = kwargs.get("create_graph") or (len(args) > 4 and args[4]) or kwargs.get("is_grads_batched")
        if further or not any(known):
            self._in_grad = True
            try:
                return original(*args, **kwargs)
            finally:
                self._in_grad = False
        self._note_updates_by_hand()
        self._look(self.holdings.held.values())
        roots = args[0] if args else kwargs.get("outputs", ())
        handles = self._hook_graph([roots] if isinstance(roots, Tensor) else [t for t in roots if isinstance(t, Tensor)])
        self._in_backward = True
        try:
            gradients = original(*args, **kwargs)
        finally:
            self._in_backward = False
            for handle in handles:
                handle.remove()
        for held, gradient in zip(known, gradients, strict=True):
            if held is not None and isinstance(gradient, Tensor):
                self.holdings.taken(held, self.log.backwards, gradient)
        self.log.by_grad.add(self.log.backwards)
        self.log.backwards += 1
        return gradients

    def _around_scale(self, original: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        scaled = original(*args, **kwargs)
        scale = getattr(args[0], "_scale", None)
        if isinstance(scale, Tensor) and not (len(self.log.scales) >= MAX_SCALES):
            self.log.scales.append(scale.detach().clone())
        return scaled

    def _around_scaler_step(self, original: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        before = len(self.log.updates)
        done = original(*args, **kwargs)
        optimizer = args[1] if len(args) > 1 else kwargs.get("optimizer")
        if len(self.log.updates) == before and not self.stopped and isinstance(optimizer, Optimizer):
            for held in self._of(optimizer):  # the scaler made no step, because they had overflowed
                self.holdings.overflowed.update(held.holding)
        return done

    def _averaged(self) -> None:
        """After a backward of a DistributedDataParallel that synchronised."""
        model = self.model
        if not isinstance(model, nn.parallel.DistributedDataParallel) or not model.require_backward_grad_sync:
            return
        ranks = torch.distributed.get_world_size(model.process_group)
        touched = [held for held in self.holdings.held.values() if self.log.backwards in held.touched]
        self.holdings.averaged(touched, ranks)
        self.log.ranks = ranks

    # Updates

    def _before_step(self, optimizer: Optimizer, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict] | None:
        if self.stopped or threading.get_ident() != self._thread:
            return None
        self._refresh()
        closure = args[1] if len(args) > 1 else kwargs.get("closure")  # the first is the optimizer
        if not callable(closure):
            self._note_update(optimizer)
            return None

        @wraps(closure)
        def watched(*given: Any, **named: Any) -> Any:
            again, self._in_closure = self._in_closure, True
            value = closure(*given, **named)
            self._note_update(optimizer)
            self._inputs.clear()
            if again:
                self.log.notes[
                    f"{type(optimizer).__name__} calls its closure several times in a step: each time counts as an update here."
                ] = None
            return value

        return ((args[0], watched), kwargs) if len(args) > 1 else (args, kwargs | {"closure": watched})

    def _note_update(self, optimizer: Optimizer) -> None:
        mine = self._of(optimizer)
        if not mine:
            self.log.idle |= not any(p.grad is not None for group in optimizer.param_groups for p in group["params"])
            return
        number = self._number(optimizer)
        update = Update(number, self.log.backwards + self._in_backward)
        if self._in_backward:
            self.holdings.added(self.log.backwards)
        update.clipped, update.shrunk, update.own_factors = self._look_at_step(mine)
        scale, overflow = getattr(optimizer, "grad_scale", None), getattr(optimizer, "found_inf", None)
        update.skipped = overflow is not None and bool(overflow)
        divisor = float(scale) if isinstance(scale, Tensor) else 1.0
        for held in mine:
            if held.parameter.grad is None and not held.touched:
                continue
            if held.unknown:
                update.unknown[id(held.parameter)] = held.unknown
            self.log.clipped_inside += held.clipped_inside
            held.clipped_inside = False
            holding = held.holding if divisor == 1.0 else {b: c / divisor for b, c in held.holding.items()}
            update.rows[id(held.parameter)] = holding
        update.empty = all(held.parameter.grad is None for held in mine)
        known = self._seen_backwards.get(number, -1)
        if known == update.backwards and not update.empty and not any((*update.rows.values(), *update.unknown.values())):
            self.log.for_nothing += 1
        self._seen_backwards[number] = update.backwards
        self.log.updates.append(update)

    def _after_step(self, optimizer: Optimizer, args: tuple, kwargs: dict[str, Any]) -> None:
        if self.stopped or threading.get_ident() != self._thread:
            return
        mine, self._in_closure = self._of(optimizer), False
        if mine:
            self._cached_features(mine)
            self.holdings.updated(mine, self.log.backwards)
            self._inputs.clear()
        if self.max_updates is not None and len(self.log.updates) >= self.max_updates:
            self.stop(finished=False)

    def _note_updates_by_hand(self) -> None:
        """Parameters that changed although no optimizer updated them."""
        if self._in_closure:
            return
        moved = self.holdings.moved(self.holdings.held.values())
        held = [one for one in moved if one.touched]
        if not held:
            return
        if all(max(one.touched) < one.updated for one in held):
            self.log.notes["Parameters were changed between updates, too, as by averaging or clipping weights."] = None
            return
        if self._optimizers:
            self.log.cannot_tell[
                f"{holdings.names_of(held)} changed outside of optimizer.step(), too, so it cannot be told which updates count."
            ] = None
            return
        update = Update(-1, self.log.backwards, by_hand=True, along=True)
        for one, holding in self.holdings.explained({one: moved[one] for one in held}).items():
            update.along &= holding is not None
            update.rows[id(one.parameter)] = one.holding if holding is None else holding
            if holding is None and not one.holding:
                update.unknown[id(one.parameter)] = "it was updated by hand by something that backwards do not explain"
            one.updated, one.parts = self.log.backwards, {}
        self.log.updates.append(update)
        self.log.notes[
            "The parameters were updated by hand. What gradients were multiplied by then is not seen: only shares within a "
            "window are judged."
        ] = None

    def _clips(self, function: str) -> None:
        """One of torch's functions is about to clip: what was done to ``.grad`` until now was something else."""
        if not self._clipped_by:
            self.holdings.look(self.holdings.held.values())
        self._clipped_by.add(function)

    def _look_at_step(self, of: Sequence[Held]) -> tuple[float | None, tuple[float, float] | None, bool]:
        """Look at ``.grad`` before an update.

        Returns by how much torch clipped it, by how much else it was scaled, with its norm then, and whether parameters were
        scaled differently.
        """
        factors = self._look(of)
        clipped = [held.clipped for held in of if held.clipped != 1.0]
        if any(math.isnan(factor) for factor in clipped):
            self.log.notes["Gradients were clipped by value before updates; what they held before that is judged."] = None
        elif clipped:
            return min(clipped), None, False
        if not factors or len(set(factors)) > 1 or factors[0] in (0.0, 1.0):
            return None, None, len(set(factors)) > 1
        gradients = [held.parameter.grad for held in of if held.parameter.grad is not None]
        return None, (factors[0], float(torch.stack([g.detach().float().norm() for g in gradients]).norm())), False

    def _look(self, of: Iterable[Held]) -> list[float]:
        clipping, self._clipped_by = self._clipped_by, set()
        by_value = clipping & {"_foreach_clamp_min_", "clamp_"}
        return self.holdings.look(of, clipped="value" if by_value else "norm" if clipping else "")

    def _of(self, optimizer: Optimizer) -> list[Held]:
        known = self.holdings.held
        return [known[id(p)] for group in optimizer.param_groups for p in group["params"] if id(p) in known]

    def _number(self, optimizer: Optimizer) -> int:
        for number, known in enumerate(self._optimizers):
            if known is optimizer:
                return number
        self._optimizers.append(optimizer)
        self.log.optimizers.append(type(optimizer).__name__)
        return len(self._optimizers) - 1

    # What is watched

    @property
    def stopped(self) -> bool:
        """Whether as many updates were seen as were asked for."""
        return self.max_updates is not None and len(self.log.updates) >= self.max_updates

    def _refresh(self) -> None:
        if self.model is not None:
            self.holdings.watch(self.model.named_parameters())
        elif self._parameters is not None:
            self.holdings.watch((f"parameter {k}", p) for k, p in enumerate(self._parameters))

    def _around_group(self, original: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """An optimizer was given parameters, in a run whose model is not known."""
        before = {id(p) for group in args[0].param_groups for p in group["params"]}
        original(*args, **kwargs)
        added = [p for group in args[0].param_groups for p in group["params"] if id(p) not in before]
        names = {id(p): name for module in _models_of(added) for name, p in module.named_parameters()}
        number = len(self.holdings.held)
        self.holdings.watch((names.get(id(p), f"parameter {number + k}"), p) for k, p in enumerate(added))

    def _forward(self, module: nn.Module, inputs: tuple, named: dict[str, Any]) -> None:
        if torch.compiler.is_compiling():  # what is compiled must not depend on who watches
            return
        if not torch.is_grad_enabled():
            self._plain_forwards += module.training
            return
        if not module.training:
            self.log.notes["The model was in evaluation mode in forwards that it learned from."] = None
        self._grad_forwards += 1
        given = next((value for value in (*inputs, *named.values()) if isinstance(value, Tensor)), None)
        if given is None:
            return
        if not torch.compiler.is_compiling():
            self._forwards += 1
            self._sampled += len(given) if given.dim() else 0
        for backward, known in self._inputs.items():
            if known() is given and backward != self.log.backwards:
                self.log.repeated.add(self.log.backwards)
        self._inputs[self.log.backwards] = weakref.ref(given)

    def _cached_features(self, of: Sequence[Held]) -> None:
        """Whether every forward of this update was also run without gradients: their outputs may be in the losses of others.

        A parameter that is not behind these outputs, such as a temperature, then gets the same gradient in every backward.
        """
        if self._plain_forwards and self._plain_forwards == self._grad_forwards:
            self.log.cannot_tell[
                "Every micro-batch went through the model twice, first without gradients: a loss may hold features of other "
                "micro-batches, and then says nothing of shares."
            ] = None
            alike = [held for held in of if len(held.parts) > 1 and sketch.are_alike(list(held.parts.values()))]
            most = max((c for held in of if held not in alike for c in held.holding.values()), default=0.0)
            whole = (held for held in alike if max(held.holding.values(), default=0.0) > 0.99 * most > 0)
            self.log.alike.update({held.name: len(held.parts) for held in whole})
        self._grad_forwards = self._plain_forwards = 0

    def _around_iter(self, original: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        if id(args[0]) in self._loaders:
            self.log.boundaries.append(self.log.backwards)
        self._loaders.add(id(args[0]))
        return original(*args, **kwargs)


class _Hook:
    """A hook on a module, which does nothing on a copy of it: trainers copy and pickle models while they run."""

    def __init__(self, look: Callable[..., None]):
        self._look = look

    def __call__(self, *given: Any) -> None:
        self._look(*given)

    def __reduce__(self) -> tuple:
        return _Hook, (_ignore,)


def _ignore(*given: Any) -> None:
    pass


def _models_of(parameters: Sequence[Tensor]) -> list[nn.Module]:
    """The modules in memory that hold all of these parameters, the outermost last."""
    wanted = {id(p) for p in parameters}
    modules = [one for one in gc.get_objects() if issubclass(type(one), nn.Module)]
    holding = [module for module in modules if wanted <= {id(p) for p in module.parameters()}]
    return sorted(holding, key=lambda module: len(list(module.modules())))


def _arrival(loss: Loss, node: losses.Node, backward: int) -> Callable:
    def arrives(gradients: tuple) -> None:
        for gradient in gradients:
            if isinstance(gradient, Tensor):
                loss.arrived(backward, losses.per_token(node, gradient))

    return arrives


def _samples(values: Iterable[object]) -> float | None:
    return next((float(len(value)) for value in values if isinstance(value, Tensor) and value.dim()), None)


@contextmanager
def _replaced(owner: Any, name: str, around: Callable[[Callable, tuple, dict], Any]) -> Iterator[None]:
    """Have calls of a function go through ``around(original, args, kwargs)`` inside the block."""
    original = getattr(owner, name)

    @wraps(original)
    def calls(*args: Any, **kwargs: Any) -> Any:
        return around(original, args, kwargs)

    setattr(owner, name, calls)
    try:
        yield
    finally:
        setattr(owner, name, original)


def _replaced_function(function: Callable, around: Callable[[Callable, tuple, dict], Any]) -> AbstractContextManager[None]:
    """The same for a function that callers find under its name in its module."""
    module = sys.modules.get(getattr(function, "__module__", ""))
    name = getattr(function, "__name__", "")
    if module in (None, builtins) or getattr(module, name, None) is not function:
        raise ValueError(f"watch(loss={name or function!r}): give a torch.nn.Module, or a function its module holds by name")
    return _replaced(module, name, around)


def point_out(value: Tensor, count: float | Tensor | None = None) -> None:
    """See :func:`gradaccum.loss_seen`."""
    if not isinstance(value, Tensor):
        raise TypeError(f"loss_seen(loss, count): loss is the tensor that backward starts from, not {type(value).__name__}")
    for watcher in _ACTIVE:
        watcher.point_out(value, count)
