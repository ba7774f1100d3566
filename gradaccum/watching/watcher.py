"""Watch a run: connect those that look to backwards, optimizers, forwards and losses."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from gradaccum.watching.averaging import Averaging
from gradaccum.watching.backwards import Backwards, with_lists
from gradaccum.watching.forwards import Forwards
from gradaccum.watching.guard import Guard, Look
from gradaccum.watching.holdings import Holdings
from gradaccum.watching.hooks import ModuleHook, active_mode, replaced, replaced_function
from gradaccum.watching.log import Log
from gradaccum.watching.losses import LossFinder, own_loss
from gradaccum.watching.seen import Seen
from gradaccum.watching.updates import Updates

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
        self._entered = False
        self._loaders: set[int] = set()

    def __enter__(self) -> Seen:
        if self._entered:
            raise RuntimeError("this watch has been used: call gradaccum.watch(model, …) again for another block")
        self._entered = True
        self.guard = Guard(self.log)
        self._forwards = Forwards(self.log)
        self._updates = Updates(self.log, self.holdings, self._forwards, self.guard)
        averaging = Averaging(self.log, self.holdings)
        self._backwards = Backwards(
            self.log, self.holdings, self._forwards, self._updates, averaging, self.guard, self._before_backward
        )
        with ExitStack() as undo:  # of all that was done, if one step is refused
            averaging.look_at_ranks()
            self._refresh()
            for owner, name, look in (
                (torch.autograd, "backward", self._backwards.around_backward),
                (torch.autograd, "grad", self._backwards.around_grad),
                (torch.utils.data.DataLoader, "__iter__", self._around_iter),
                (torch.amp.GradScaler, "scale", self._updates.around_scale),
                (torch.amp.GradScaler, "unscale_", self._updates.around_unscale),
                (torch.amp.GradScaler, "step", self._updates.around_scaler_step),
                *([(Optimizer, "add_param_group", self._around_group)] if self._finds_model else []),
                *(
                    [
                        (nn.parallel.DistributedDataParallel, "forward", averaging.around_forward),
                        (torch.distributed, "all_reduce", averaging.around_all_reduce),
                    ]
                    if torch.distributed.is_available()
                    else []
                ),
            ):
                around = self._guarded(look)
                undo.enter_context(replaced(owner, name, with_lists(around) if owner is torch.autograd else around))
            for handle in (
                register_optimizer_step_pre_hook(partial(self.guard, self._before_step)),
                register_optimizer_step_post_hook(partial(self.guard, self._after_step)),
                *(self._hook_forwards(part) for part in _with_forward(self.model)),
                *([self._hook_loss(self._loss)] if isinstance(self._loss, nn.Module) else []),
            ):
                undo.callback(handle.remove)
            if self._loss is not None and not isinstance(self._loss, nn.Module):
                undo.enter_context(replaced_function(self._loss, self._guarded(self._around_loss)))
            undo.enter_context(
                active_mode(LossFinder(self._backwards.found, self._updates.clips, self._updates.own.grad_read, self.guard))
            )
            _ACTIVE.append(self)
            undo.callback(_ACTIVE.remove, self)
            self._exits = undo.pop_all()
        return self.seen

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        try:
            if self.log.backwards:
                self.guard(self._updates.note_by_hand)
        finally:
            self._stop(finished=kind is None)

    def _stop(self, finished: bool) -> None:
        """Stop watching; what was seen stays."""
        self.log.finished |= finished and not self.guard.closed
        self.guard.closed = True
        self._exits.close()

    def _stop_if_enough(self) -> None:
        if self.max_updates is not None and len(self.log.updates) >= self.max_updates:
            self._stop(finished=False)

    def _guarded(self, look: Look) -> Callable[..., Any]:
        return partial(self.guard.around, look)

    # Losses that are pointed out

    def point_out(self, value: Tensor, count: float | Tensor | None) -> None:
        """A loss that the user names."""
        self.guard(self._pointed_out, value, count)

    def _pointed_out(self, value: Tensor, count: float | Tensor | None) -> None:
        if value.requires_grad:
            self._backwards.found(own_loss(value, count), value)

    def _hook_loss(self, loss: nn.Module) -> Any:
        def look(module: nn.Module, inputs: tuple, output: object) -> None:
            if isinstance(output, Tensor):
                self._pointed_out(output, _samples(inputs))

        return loss.register_forward_hook(ModuleHook(partial(self.guard, look)))

    def _around_loss(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        output = yield
        if isinstance(output, Tensor):
            self._pointed_out(output, _samples((*args, *kwargs.values())))

    # Where a run is looked at

    def _hook_forwards(self, model: nn.Module) -> Any:
        def look(*given: Any) -> None:
            if not self.guard.elsewhere:
                self.guard(self._forwards.look, *given, self._updates.in_backward)

        return model.register_forward_pre_hook(ModuleHook(look), with_kwargs=True)

    def _before_backward(self) -> None:
        self._refresh()
        self._updates.note_by_hand()
        self._stop_if_enough()

    def _before_step(self, optimizer: Optimizer, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict] | None:
        if self.guard.elsewhere:
            self._updates.elsewhere(optimizer)
            return None
        self._refresh()
        return self._updates.before_step(optimizer, args, kwargs)

    def _after_step(self, optimizer: Optimizer, args: tuple, kwargs: dict[str, Any]) -> None:
        if not self.guard.elsewhere:
            self._updates.after_step(optimizer)
            self._stop_if_enough()

    def _around_iter(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        if id(args[0]) in self._loaders:
            self.log.boundaries.append(self.log.backwards)
        self._loaders.add(id(args[0]))
        yield

    # What is watched

    def _refresh(self) -> None:
        if self.model is not None:
            self.holdings.watch(self.model.named_parameters())
        elif self._parameters is not None:
            self.holdings.watch((f"parameter {k}", p) for k, p in enumerate(self._parameters))

    def _around_group(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """An optimizer is given parameters, in a run whose model is not known."""
        before = {id(p) for group in args[0].param_groups for p in group["params"]}
        yield
        added = [p for group in args[0].param_groups for p in group["params"] if id(p) not in before]
        names = {id(p): name for module in _models_of(added) for name, p in module.named_parameters()}
        number = len(self.holdings.held)
        self.holdings.watch((names.get(id(p), f"parameter {number + k}"), p) for k, p in enumerate(added))


def _with_forward(model: nn.Module | None) -> list[nn.Module]:
    """A model, or the parts of it that are called if it only holds them, as a list of modules does."""
    if model is None:
        return []
    if type(model).forward is nn.Module.forward:
        return [one for part in model.children() for one in _with_forward(part)]
    return [model]


def _models_of(parameters: Sequence[Tensor]) -> list[nn.Module]:
    """The modules in memory that hold all of these parameters, the outermost last."""
    wanted = {id(p) for p in parameters}
    modules = [one for one in gc.get_objects() if issubclass(type(one), nn.Module)]
    holding = [module for module in modules if wanted <= {id(p) for p in module.parameters()}]
    return sorted(holding, key=lambda module: len(list(module.modules())))


def _samples(values: Iterable[object]) -> float | None:
    return next((float(len(value)) for value in values if isinstance(value, Tensor) and value.dim()), None)


def point_out(value: Tensor, count: float | Tensor | None = None) -> None:
    """See :func:`gradaccum.loss_seen`."""
    if not isinstance(value, Tensor):
        raise TypeError(f"loss_seen(loss, count): loss is the tensor that backward starts from, not {type(value).__name__}")
    for watcher in _ACTIVE:
        watcher.point_out(value, count)
