"""The backwards of a run: what each of them adds to ``.grad``, and which losses it comes from."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor

from gradaccum.watching import graph, losses
from gradaccum.watching.averaging import Averaging
from gradaccum.watching.forwards import Forwards
from gradaccum.watching.guard import Guard
from gradaccum.watching.holdings import Holdings
from gradaccum.watching.log import Log
from gradaccum.watching.losses import Loss
from gradaccum.watching.parameter_hooks import seen_through
from gradaccum.watching.updates import Updates


def with_lists(around: Callable) -> Callable:
    """The same for a function that may be given iterators, which can be read once only."""

    def calls(original: Callable, *args: Any, **kwargs: Any) -> Any:
        args = tuple(list(value) if isinstance(value, Iterator) else value for value in args)
        kwargs = {name: list(value) if isinstance(value, Iterator) else value for name, value in kwargs.items()}
        return around(original, *args, **kwargs)

    return calls


class Backwards:
    """Looks around ``torch.autograd.backward`` and ``torch.autograd.grad``.

    Args:
        before: called before each of them, when updates by hand are noticed; it may end the watching.
    """

    def __init__(
        self,
        log: Log,
        holdings: Holdings,
        forwards: Forwards,
        updates: Updates,
        averaging: Averaging,
        guard: Guard,
        before: Callable[[], None],
    ):
        self._log, self._holdings, self._forwards, self._updates = log, holdings, forwards, updates
        self._averaging, self._guard, self._before = averaging, guard, before
        self._in_grad = False

    def found(self, loss: Loss, value: Tensor) -> None:
        """A loss was found as it was computed."""
        self._enter(loss)
        assert value.grad_fn is not None  # found with a graph
        graph.mark_as_seen(value.grad_fn)

        def arrives(gradient: Tensor) -> None:
            if not self._in_grad:
                self._guard(loss.arrived, self._log.backwards, gradient)

        value.register_hook(arrives)

    def _enter(self, loss: Loss) -> None:
        loss.forward, loss.sampled = self._forwards.count, self._forwards.sampled
        self._log.losses.append(loss)

    def around_backward(self, args: tuple, kwargs: dict[str, Any]) -> Generator[None, Any, None]:
        """A backward that adds to ``.grad``."""
        if self._updates.in_backward or not self._look_before():
            yield
            return
        with self._running(args[0] if args else kwargs.get("tensors", ())):
            try:
                with seen_through(self._holdings, self._log.backwards, self._guard):
                    yield
            finally:  # one that raised may have added to .grad, too
                self._ended()

    def _ended(self) -> None:
        self._holdings.added(self._log.backwards)
        self._averaging.after_backward(self._log.backwards)
        self._log.backwards += 1

    def around_grad(self, args: tuple, kwargs: dict[str, Any]) -> Generator[None, Any, None]:
        """Gradients that a trainer takes itself are a backward too, unless it goes on to differentiate them."""
        if self._updates.in_backward or self._in_grad:
            yield
            return
        asked = args[1] if len(args) > 1 else kwargs.get("inputs", ())
        inputs = [asked] if isinstance(asked, Tensor) else list(asked)
        known = [self._holdings.held.get(id(one)) for one in inputs]
        further = kwargs.get("create_graph") or (len(args) > 4 and args[4]) or kwargs.get("is_grads_batched")
        if further or not any(known):
            self._in_grad = True
            try:
                yield
            finally:
                self._in_grad = False
            return
        if not self._look_before():
            yield
            return
        with self._running(args[0] if args else kwargs.get("outputs", ())):
            gradients = yield
        for held, gradient in zip(known, gradients, strict=True):
            if held is not None and isinstance(gradient, Tensor):
                self._holdings.taken(held, self._log.backwards, gradient)
        self._log.by_grad.add(self._log.backwards)
        self._log.backwards += 1

    def _look_before(self) -> bool:
        """Look at updates by hand and at ``.grad``; return whether watching goes on."""
        self._before()
        if self._guard.off:
            return False
        self._updates.own.backward_begins()
        self._updates.look(self._holdings.held.values())
        return True

    @contextmanager
    def _running(self, roots: Tensor | Iterable[Any]) -> Generator[None]:
        """Inside the block a backward runs from these roots, with hooks on the losses in its graph."""
        with ExitStack() as undo:
            self._hook_graph([roots] if isinstance(roots, Tensor) else [t for t in roots if isinstance(t, Tensor)], undo)
            self._updates.in_backward = True
            try:
                yield
            finally:
                self._updates.in_backward = False

    def _hook_graph(self, roots: list[Tensor], undo: ExitStack) -> None:
        """Look at the ends of the graph's linear part, if it goes through no loss that was found as it was computed."""
        place = losses.place()
        for name in graph.beside_losses(roots):
            self._log.notes[f"{name} in the graph is added to losses that are judged; how it is divided itself is not."] = None
        for k, (node, name) in enumerate(graph.in_graph(roots)):
            loss = Loss(f"{name} in the graph", f"{k} {place}", None, mean=False, in_graph=True)
            self._enter(loss)
            undo.callback(node.register_prehook(self._arrival(loss, node, self._log.backwards)).remove)

    def _arrival(self, loss: Loss, node: graph.Node, backward: int) -> Callable:
        def note(gradients: tuple) -> None:
            for gradient in gradients:
                if isinstance(gradient, Tensor):
                    loss.arrived(backward, graph.per_token(node, gradient))

        return lambda gradients: self._guard(note, gradients)
