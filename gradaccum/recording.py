"""Record what a training loop does.

:func:`record` runs a loop on a :class:`~gradaccum.problems.Problem` and returns what happened: the gradient at each update,
the movement it caused, the order of forwards, backwards, updates and clears, and the bytes alive. Only public hooks are
used; the loop may get its gradients in whatever way it likes, and no event is *required* to be seen.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode

from gradaccum.kept_state import optimizer_values, same_data, same_values, state_of
from gradaccum.problems import MicroBatch, Problem, fill_with_infinity, flat_gradients, flat_values, trainable

Loop = Callable[..., object]
"""``loop(model, loss_fn, optimizer, micro_batches, accumulation_steps)``"""


@dataclass(frozen=True)
class Event:
    """One moment of a run.

    Attributes:
        kind: ``"forward"``, ``"backward"``, ``"clear"`` or ``"step"``.
        epoch: which call of the loop.
        size: samples, of a forward; 0 otherwise.
        micro_batch: position in the epoch, of a forward whose input is one of the epoch's micro-batches; else None.
        training, grad_enabled: the modes a forward ran in.
        tick: number of tensor operations of the run before it (0 without a meter).
        live_bytes: bytes of tensors alive, when it began, that the run made (0 without a meter). A clear is noticed when it
            is over.
    """

    kind: str
    epoch: int
    size: int = 0
    micro_batch: int | None = None
    training: bool = True
    grad_enabled: bool = True
    tick: int = 0
    live_bytes: int = 0


@dataclass(frozen=True)
class Recording:
    """What a loop did.

    Attributes:
        gradients: ``(U, P)``, the content of ``.grad`` that each of the U updates used.
        movements: ``(U, P)``, parameters before minus parameters after each update.
        update_epochs: for each update the epoch it happened in.
        fetched: for each update how many micro-batches the loop had taken from its epoch by then.
        parameters: ``(E, P)``, the parameters after each epoch.
        returned: what each epoch's call returned.
        training_after: whether the model was left in training mode.
        changed: what else is not as it was: ``"modes"`` of its modules, ``"dtypes"`` or ``"requires_grad"`` of its parameters
            and buffers, ``"frozen"`` values, ``"data"``: the micro-batches; ``"precision"``: a forward ran under autocast;
            ``"parameters"`` or the optimizer's ``"state"`` outside of its updates.
        events: in order.
        curve: live bytes after each tensor operation (empty without a meter).
        peak_bytes: the largest of them (0 without a meter).
    """

    gradients: Tensor
    movements: Tensor
    update_epochs: tuple[int, ...]
    fetched: tuple[int, ...]
    parameters: Tensor
    returned: tuple[object, ...]
    training_after: bool
    changed: tuple[str, ...]
    events: tuple[Event, ...]
    curve: tuple[int, ...]
    peak_bytes: int


def record(
    loop: Loop,
    problem: Problem,
    *,
    frozen: bool = True,
    meter: bool = False,
    on_event: Callable[[Event], None] | None = None,
) -> Recording:
    """Run ``loop`` once per epoch of the problem and watch it.

    Args:
        loop: called as ``loop(model, loss_fn, optimizer, micro_batches, accumulation_steps)``.
        frozen: put the parameters back after every update, so that all gradients of the run are taken at the same
            point. This is what makes a run linear in its micro-batch gradients, see :mod:`gradaccum.fingerprint`.
        meter: also count live bytes; an order of magnitude slower.
        on_event: called with each event as it happens, also in a run that ends with an error.

    Raises:
        ValueError: the loop changed the shape of a parameter.
        Exception: whatever the loop raises.
    """
    watch = _Watch(problem, frozen, on_event)
    if not meter:
        return watch.run(loop, None)
    with LiveBytes() as live:
        return watch.run(loop, live)


class LiveBytes(TorchDispatchMode):
    """Counts the bytes of tensors made inside the block and still alive, each storage once, on any device.

    Like ``torch.cuda.max_memory_allocated``, but exact, and for the CPU as well. Views of tensors made outside cost nothing.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.curve: list[int] = []
        self._known: dict[int, weakref.ref] = {}
        self._handed: dict[int, weakref.ref] = {}  # storages that a tensor was given and that are perhaps new
        self._paused = False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """By default every tensor operation would go through ``torch._dynamo.disable``, which costs more than counting."""
        return False

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Tensors made inside the block are not counted, now or later: an observer's own copies are not part of the run."""
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> object:
        kwargs = kwargs or {}
        if self._paused:
            return func(*args, **kwargs)
        out = func(*args, **kwargs)
        for storage in _storages(out):
            if storage._cdata in self._known:
                continue
            if func.overloadpacket is torch.ops.aten.set_:
                self._handed[storage._cdata] = weakref.ref(storage, partial(self._unhand, storage._cdata))
            else:
                self._count(storage, self._given(func, args, kwargs))
        self.peak = max(self.peak, self.now)
        self.curve.append(self.now)
        return out

    def _count(self, storage: torch.UntypedStorage, given: list[torch.UntypedStorage]) -> None:
        """Count a storage until it is freed and its address can be used again.

        It is an operation's result; if it is also one of the ``given``, it was made outside the block and costs nothing.
        """
        key = storage._cdata
        size = 0 if any(key == one._cdata for one in given) else storage.nbytes()
        self.now += size
        self._known[key] = weakref.ref(storage, partial(self._forget, key, size))

    def _given(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.UntypedStorage]:
        """The storages that there were before an operation; what ``copy.deepcopy`` copies into was not.

        It makes a storage without an operation and hands it to a tensor.
        """
        copies = func is torch.ops.aten.copy_.default and args[0].untyped_storage()._cdata in self._handed
        return _storages((*(args[1:] if copies else args), *kwargs.values()))

    def _unhand(self, key: int, _: weakref.ref) -> None:
        del self._handed[key]

    def _forget(self, key: int, size: int, _: weakref.ref) -> None:
        del self._known[key]
        self.now -= size


def _storages(values: object) -> list[torch.UntypedStorage]:
    """The storages of a tensor, or of the tensors in an operation's arguments or results: lists and tuples at most."""
    if isinstance(values, Tensor):
        return [values.untyped_storage()]
    return [storage for value in values for storage in _storages(value)] if isinstance(values, list | tuple) else []


class _Watch:
    """The hooks of one run and what they have seen so far."""

    def __init__(self, problem: Problem, frozen: bool, on_event: Callable[[Event], None] | None):
        self.problem, self.frozen, self.on_event = problem, frozen, on_event
        self.model = problem.build_model()
        self.frozen_names = [name for name, p in self.model.named_parameters() if not p.requires_grad]
        self.state = state_of(self.model, self.frozen_names)
        self.parameters = trainable(self.model)  # as they were at the start, whatever the loop does to the model
        self.data = [problem.batches(epoch) for epoch in range(len(problem.epochs))]
        self.optimizer = problem.build_optimizer(self.model)
        self.between: set[str] = set()
        self.left_state: list[Tensor | None] = []
        self.live: LiveBytes | None = None
        self.epoch = self.taken = 0
        self.places: dict[int, int] = {}
        self.before = self.left = flat_values(self.parameters)
        self.had_gradient = False
        self.step_began: dict[str, int] = {}
        self.events: list[Event] = []
        self.gradients: list[Tensor] = []
        self.movements: list[Tensor] = []
        self.update_epochs: list[int] = []
        self.fetched: list[int] = []

    def __deepcopy__(self, memo: dict) -> _Watch:
        """A loop may copy the model: the copy has the same watcher, which is not part of it."""
        return self

    def run(self, loop: Loop, live: LiveBytes | None) -> Recording:
        self.live = live
        returned, parameters = [], []
        handles = [
            self.model.register_forward_pre_hook(self._forward_begins),
            self.model.register_forward_hook(self._forward_ends),
            self.optimizer.register_step_pre_hook(self._step_begins),
            self.optimizer.register_step_post_hook(self._step_ends),
            *(p.register_post_accumulate_grad_hook(self._accumulated) for p in self.parameters),
        ]
        try:
            for epoch in range(len(self.problem.epochs)):
                self.epoch, self.taken = epoch, 0
                returned.append(self._call(loop, epoch))
                with self._unmetered():
                    parameters.append(self._flat())
                    self._note_between(parameters[-1])
                    self._note_clear()
        finally:
            for handle in handles:
                handle.remove()
        with self._unmetered():
            gradients, movements, ends = map(self._rows, (self.gradients, self.movements, parameters))
            changed = (*self._changed(), *sorted(self.between))
        return Recording(
            gradients=gradients,
            movements=movements,
            update_epochs=tuple(self.update_epochs),
            fetched=tuple(self.fetched),
            parameters=ends,
            returned=tuple(returned),
            training_after=self.model.training,
            changed=changed,
            events=tuple(self.events),
            curve=tuple(live.curve) if live else (),
            peak_bytes=live.peak if live else 0,
        )

    def _changed(self) -> tuple[str, ...]:
        changed = [what for what, value in state_of(self.model, self.frozen_names).items() if value != self.state[what]]
        kept = all(same_data(batches, self.problem.batches(epoch)) for epoch, batches in enumerate(self.data))
        return tuple(changed if kept else [*changed, "data"])

    def _call(self, loop: Loop, epoch: int) -> object:
        batches = self.data[epoch]
        self.places = {x.data_ptr(): k for k, (x, _) in enumerate(batches)}
        if self.problem.overflowed:
            fill_with_infinity(self.parameters)
        feed = self._counted(batches) if self.problem.one_shot else batches
        return loop(self.model, self.problem.loss_fn, self.optimizer, feed, self.problem.accumulation_steps)

    def _counted(self, batches: Iterable[MicroBatch]) -> Iterator[MicroBatch]:
        for batch in batches:
            self.taken += 1
            yield batch

    def _flat(self) -> Tensor:
        values = flat_values(self.parameters)
        if values.shape != self.before.shape:
            raise ValueError("the loop changed the shape of a parameter")
        return values

    def _rows(self, rows: list[Tensor]) -> Tensor:
        return torch.stack(rows) if rows else self.before.new_zeros(0, len(self.before))

    def _note(self, kind: str, **facts: Any) -> None:
        event = Event(kind, self.epoch, **(self._now() | facts))
        self.events.append(event)
        if self.on_event:
            with self._unmetered():
                self.on_event(event)

    def _now(self) -> dict[str, int]:
        return {"tick": len(self.live.curve), "live_bytes": self.live.now} if self.live else {}

    def _unmetered(self) -> AbstractContextManager[None]:
        """What the watcher itself computes and keeps is not part of the run."""
        return self.live.pause() if self.live else nullcontext()

    def _note_clear(self) -> None:
        """A clear is seen by its effect, however it was written: there was a gradient and now there is not."""
        with self._unmetered():
            has = any(p.grad is not None and bool(p.grad.any()) for p in self.parameters)
        if self.had_gradient and not has:
            self._note("clear")
        self.had_gradient = has

    def _forward_begins(self, model: nn.Module, inputs: tuple) -> None:
        self._note_clear()
        if any(map(torch.is_autocast_enabled, {"cpu", torch.device(self.problem.device).type})):
            self.between.add("precision")
        x = inputs[0] if inputs and isinstance(inputs[0], Tensor) else None
        if x is None or _is_wrapped(x):
            return self._note("forward")
        self._note(
            "forward",
            size=len(x) if x.dim() else 1,
            micro_batch=self.places.get(x.data_ptr()),
            training=model.training,
            grad_enabled=torch.is_grad_enabled(),
        )

    def _forward_ends(self, model: nn.Module, inputs: tuple, output: object) -> None:
        if isinstance(output, Tensor) and output.requires_grad and not _is_wrapped(output):
            output.register_hook(self._backward_begins)

    def _backward_begins(self, gradient: Tensor) -> None:
        self._note("backward")

    def _accumulated(self, parameter: nn.Parameter) -> None:
        self.had_gradient = True

    def _step_begins(self, *_: object) -> None:
        self._note_clear()
        self.step_began = self._now()
        with self._unmetered():
            self.before = self._flat()
            self._note_between(self.before)

    def _note_between(self, values: Tensor) -> None:
        """Notice what was changed since the last update, or since the start."""
        if not same_values([values], [self.left]):
            self.between.add("parameters")
        if not same_values(optimizer_values(self.optimizer), self.left_state):
            self.between.add("state")

    def _step_ends(self, *_: object) -> None:
        self._note("step", **self.step_began)
        with self._unmetered():
            self.gradients.append(flat_gradients(self.parameters))
            self.movements.append(self.before - self._flat())
            if self.frozen:
                self._restore()
            self.left = self._flat()
            self.left_state = [v if v is None else v.clone() for v in optimizer_values(self.optimizer)]
        self.update_epochs.append(self.epoch)
        self.fetched.append(self.taken)

    def _restore(self) -> None:
        with torch.no_grad():
            start = 0
            for parameter in self.parameters:
                end = start + parameter.numel()
                parameter.copy_(self.before[start:end].view_as(parameter))
                start = end


def _is_wrapped(tensor: Tensor) -> bool:
    """Whether a ``torch.func`` transform holds the tensor; such a tensor has no storage to look at."""
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor)
