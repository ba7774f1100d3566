"""Find the losses of a run as they are computed, and note the gradient that arrives at each: the weight of its micro-batch.

The losses of torch's functions are seen by a mode for torch's functions, with their reduction and what they average over. If a
backward goes through none of them, its graph is walked from the root through linear operations to the first that is not.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from gradaccum.watching.guard import Guard

LOSS_NAMES = (
    *("cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy"),
    *("binary_cross_entropy_with_logits", "kl_div", "ctc_loss", "cosine_embedding_loss", "margin_ranking_loss"),
    *("triplet_margin_loss", "triplet_margin_with_distance_loss", "hinge_embedding_loss", "soft_margin_loss"),
    *("multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "poisson_nll_loss", "gaussian_nll_loss"),
)
LOSSES: dict[Callable, str] = {getattr(F, name): name for name in LOSS_NAMES if hasattr(F, name)}
"""torch's losses, by function."""


@dataclass(eq=False)
class Loss:
    """One loss that was computed.

    Attributes:
        kind: the name of its function, or of the operation in the graph where it was found.
        place: where in the program it was computed, or its backward called if it was found in the graph.
        in_graph: whether it was found there.
        count: what it averages over, or adds up: samples, tokens or entries that are not ignored; None if not known.
        mean: whether it is a mean over ``count``, otherwise single values or their sum.
        shares: what each of its single values counts, such as 0 for a target that is ignored; None if all count alike.
        samples: length of the first dimension of what it compares, if it is known.
        weights: for each backward, by number, the gradient that arrived.
        forward: how many forwards of the model came before; 0 if they are not seen.
        sampled: how many samples these had.
    """

    kind: str
    place: str
    count: Tensor | float | None
    mean: bool
    shares: Tensor | None = None
    samples: float | None = None
    weights: dict[int, Arrived] = field(default_factory=dict)
    forward: int = 0
    sampled: float = 0.0
    in_graph: bool = False

    def arrived(self, backward: int, gradient: Tensor) -> None:
        """Note a gradient that reached this loss in a backward."""
        shares = self.shares if self.shares is not None and self.shares.shape == gradient.shape else None
        one = Arrived.of(gradient, shares)
        before = self.weights.get(backward)
        self.weights[backward] = one if before is None else before.plus(one)


@dataclass(frozen=True)
class Arrived:
    """The gradient that arrived at a loss: kept on its device until the run is over.

    Attributes:
            total: sum of its entries, each times what it counts.
        size: the same of their absolute values.
        entries: what those count that are not zero.
        smallest, largest: of the absolute values of those that are not zero.
    """

    total: Tensor
    size: Tensor
    entries: Tensor
    smallest: Tensor
    largest: Tensor

    @classmethod
    def of(cls, gradient: Tensor, shares: Tensor | None) -> Arrived:
        values = gradient.detach().double().reshape(-1)
        counts = torch.ones_like(values) if shares is None else shares.to(values).reshape(-1)
        size = values.abs()
        there = (size > 0) & (counts > 0)
        smallest = size.where(there, torch.inf).amin() if len(size) else values.new_tensor(torch.inf)
        largest = size.where(there, 0.0).amax() if len(size) else values.new_zeros(())
        return cls((values * counts).sum(), (size * counts).sum(), (counts * there).sum(), smallest, largest)

    def plus(self, other: Arrived) -> Arrived:
        smallest, largest = torch.minimum(self.smallest, other.smallest), torch.maximum(self.largest, other.largest)
        return Arrived(self.total + other.total, self.size + other.size, self.entries, smallest, largest)


class LossFinder(TorchFunctionMode):
    """Notes every loss computed with a graph while it is active.

    Args:
        found: called with each loss and its value, in the order of the run.
        clipping: called before one of torch's functions clips gradients.
        grad_read: called before the ``.grad`` of a tensor is read.
        guard: calls them.
    """

    def __init__(
        self,
        found: Callable[[Loss, Tensor], None],
        clipping: Callable[[str], None],
        grad_read: Callable[[Tensor], None],
        guard: Guard,
    ):
        super().__init__()
        self._found, self._clipping, self._grad_read, self._guard = found, clipping, grad_read, guard

    def __torch_function__(
        self, func: Callable, types: tuple[type, ...], args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if torch.compiler.is_compiling():  # what is compiled must not depend on who watches
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        if name in _CLIPPING:
            self._guard(self._note_clipping, name)
        elif name == "__get__" and func == _READ_GRAD:
            self._guard(self._grad_read, args[0])
        out = func(*args, **kwargs)
        if func in LOSSES and isinstance(out, Tensor) and out.requires_grad:
            self._guard(self._note_loss, func, args, kwargs, out)
        return out

    def _note_clipping(self, name: str) -> None:
        if _caller_is(_CLIP_MODULE):
            self._clipping(name)

    def _note_loss(self, func: Callable, args: tuple, kwargs: dict[str, Any], out: Tensor) -> None:
        with torch.no_grad():
            loss = Loss(LOSSES[func], place(), *_count(func, args, kwargs))
        self._found(loss, out)


_READ_GRAD: Callable = vars(torch._C.TensorBase)["grad"].__get__
_CLIP_MODULE = "torch.nn.utils.clip_grad"
_CLIPPING = ("_foreach_mul_", "mul_", "_foreach_clamp_min_", "clamp_")
"""What torch's own clipping calls on gradients."""


def _caller_is(module: str) -> bool:
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("torch.overrides", _WATCHING)):
        frame = frame.f_back
    return frame.f_globals.get("__name__") == module


def own_loss(value: Tensor, count: float | Tensor | None, kind: str = "loss") -> Loss:
    """A mean over ``count`` that a user points out."""
    return Loss(kind, place(), count, mean=True)


def _count(
    func: Callable, args: tuple, kwargs: dict[str, Any]
) -> tuple[Tensor | float | None, bool, Tensor | None, float | None]:
    """What a loss averages over or adds up, whether it is a mean, what each of its single values counts, and its samples."""
    given = _arguments(func, args, kwargs)
    reduction = given.get("reduction", "mean")
    if given.get("size_average") is not None or given.get("reduce") is not None:
        reduce, average = given.get("reduce") is not False, given.get("size_average") is not False
        reduction = "none" if not reduce else "mean" if average else "sum"
    first = next((value for value in (given.get(name) for name in _FIRST) if isinstance(value, Tensor)), None)
    name, target = LOSSES[func], given.get("target")
    samples = float(len(first)) if first is not None and first.dim() else None
    if name in ("cross_entropy", "nll_loss") and isinstance(target, Tensor) and not target.is_floating_point():
        counted, weight = target != given.get("ignore_index", -100), given.get("weight")
        shares = counted if weight is None else weight.detach()[target.where(counted, 0)].where(counted, 0)
        return (None, False, shares, samples) if reduction == "none" else (shares.sum(), reduction == "mean", None, samples)
    if reduction == "none" or first is None:
        return None, reduction not in ("none", "sum"), None, samples
    if name == "cross_entropy":
        count = first.numel() / first.shape[1 if first.dim() > 1 else 0]
    elif name in _PER_SAMPLE or (name, reduction) == ("kl_div", "batchmean"):
        count = first.shape[0] if first.dim() > 1 else 1
    else:
        count = first.shape[1] if name == "ctc_loss" and first.dim() > 2 else first.numel()
    return float(count), reduction != "sum", None, samples


_FIRST = ("input", "anchor", "input1", "log_probs")
_PER_SAMPLE = (
    *("cosine_embedding_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss"),
    *("multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss"),
)
"""Losses with one value for each sample, not for each entry."""


def _arguments(func: Callable, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    signature = _SIGNATURES.get(func)
    if signature is None:
        signature = _SIGNATURES[func] = inspect.signature(func)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return dict(kwargs)
    return bound.arguments


_SIGNATURES: dict[Callable, inspect.Signature] = {}

_WATCHING = "gradaccum.watching."
_NOT_A_PLACE = ("torch.", _WATCHING)


MAX_FRAMES = 6
"""Calls that tell one place in a program from another."""


def place() -> str:
    """Where this was called from: the innermost calls outside of torch and of this package."""
    calls: list[str] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(calls) < MAX_FRAMES:
        if not f"{frame.f_globals.get('__name__', '')}.".startswith(_NOT_A_PLACE):
            calls.append(f"{frame.f_code.co_filename}:{frame.f_lineno}:{frame.f_lasti}")
        frame = frame.f_back
    return " ".join(calls)
